-- For the shop's own transaction that takes a payment. Waits for a close that is under way, then decides by the order
-- as locked: PAID from pending, ALREADY_PAID for the same payment again, REFUND where the order was closed or paid by
-- another payment (one REFUND event), UNKNOWN_PAYMENT where it is paid or later and nobody told us by what. Whoever
-- inserts a payment row first holds KEY SHARE on the order: NO KEY UPDATE, so that two such payers cannot deadlock.
create or replace function order_timeout.pay_order(order_id bigint, payment_id text, amount numeric)
returns text
language plpgsql volatile security definer set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
#variable_conflict use_column
declare
  placed record;
  known record;
  result text;
  why text;
begin
  if pay_order.order_id is null or pay_order.payment_id is null or pay_order.amount is null then
    raise exception 'pay_order needs an order, a payment and an amount: none may be NULL'
      using errcode = 'null_value_not_allowed';
  end if;
  if btrim(pay_order.payment_id) = '' or length(pay_order.payment_id) > 200 then
    raise exception 'a payment has an id of 1 to 200 characters, not %', length(btrim(pay_order.payment_id))
      using errcode = 'invalid_parameter_value';
  end if;

  select s.pending, s.closed into placed from order_timeout.shop_order s
   where s.id = pay_order.order_id for no key update;
  if not found then
    raise exception 'there is no order %', pay_order.order_id using errcode = 'no_data_found';
  end if;

  select p.order_id, p.outcome into known from order_timeout.payment p
   where p.payment_id = pay_order.payment_id;
  if known.order_id = pay_order.order_id and known.outcome <> 'UNKNOWN_PAYMENT' then
    return case known.outcome when 'PAID' then 'ALREADY_PAID' else known.outcome end;
  end if;

  if placed.pending then
    result := 'PAID';
    update {{order_table}} as o
       set {{pay_assignments}}
     where {{id}} = pay_order.order_id and {{status}} = {{status_pending}};
    if not found then
      raise exception 'order % is pending and could not be set to paid: does a trigger forbid it?',
        pay_order.order_id using errcode = 'object_not_in_prerequisite_state';
    end if;
    -- What was held for a person because of a payment is settled by it.
    delete from order_timeout.hold h
     where h.order_id = pay_order.order_id and h."by" in ('payment_evidence', 'payment_check');
  elsif placed.closed then
    result := 'REFUND';
    why := 'paid after the close';
  elsif exists (select from order_timeout.payment p
                 where p.order_id = pay_order.order_id and p.outcome = 'PAID') then
    result := 'REFUND';
    why := 'paid by another payment';
  else
    result := 'UNKNOWN_PAYMENT';
    why := 'paid or later, and no payment recorded';
  end if;
  perform order_timeout.record_payment(pay_order.order_id, pay_order.payment_id, pay_order.amount, result, why,
                                       'pay_order ' || session_user);
  return result;
end
{{tag}};
