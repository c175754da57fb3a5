-- Writes down what became of a payment, once; a REFUND with its one event, under the payment's own id, whoever saw it
-- first. The caller has locked the order. A payment that was unknown may be decided later; one of another order is an
-- error. Executable by the owner only.
create or replace function order_timeout.record_payment(order_id bigint, payment_id text, amount numeric,
                                                        outcome text, reason text, "by" text) returns void
language plpgsql volatile set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
#variable_conflict use_column
declare
  order_amount numeric;
begin
  insert into order_timeout.payment as p (payment_id, order_id, amount, outcome)
  values (record_payment.payment_id, record_payment.order_id, record_payment.amount, record_payment.outcome)
  on conflict (payment_id) do update set outcome = excluded.outcome, amount = excluded.amount, at = now()
   where p.order_id = excluded.order_id and p.outcome = 'UNKNOWN_PAYMENT';
  if not found then
    raise exception 'payment % is recorded already, for order %',
      record_payment.payment_id,
      (select p.order_id from order_timeout.payment p where p.payment_id = record_payment.payment_id)
      using errcode = 'unique_violation';
  end if;

  if record_payment.outcome = 'REFUND' then
    insert into order_timeout.outbox (event_key, order_id, order_no, event_type, payload)
    select record_payment.order_id || ':REFUND:' || record_payment.payment_id, record_payment.order_id,
           {{order_no}}::text, 'REFUND',
           jsonb_build_object('order_id', record_payment.order_id, 'order_no', {{order_no}}::text,
                              'user_id', {{user_id}}, 'business_line', {{business_line}}::text,
                              'amount', record_payment.amount, 'payment_id', record_payment.payment_id,
                              'closed_at', order_timeout.rfc3339(order_timeout.instant({{closed_at}})),
                              'reason', record_payment.reason)
      from {{order_table}} as o where {{id}} = record_payment.order_id
    on conflict (event_key) do nothing;
  end if;
  if record_payment.outcome <> 'PAID' then
    insert into order_timeout.notice (order_id, kind, notice_key, "by", reason, detail)
    values (record_payment.order_id, lower(record_payment.outcome),
            lower(record_payment.outcome) || ':' || record_payment.order_id || ':' || record_payment.payment_id,
            record_payment."by", record_payment.reason,
            jsonb_build_object('payment_id', record_payment.payment_id, 'amount', record_payment.amount))
    on conflict (notice_key) do nothing;
  end if;

  order_amount := (select s.amount from order_timeout.shop_order s where s.id = record_payment.order_id);
  if record_payment.outcome <> 'UNKNOWN_PAYMENT' and record_payment.amount <> order_amount then
    insert into order_timeout.notice (order_id, kind, "by", reason, detail)
    values (record_payment.order_id, 'amount_differs', record_payment."by", record_payment.outcome,
            jsonb_build_object('payment_id', record_payment.payment_id, 'amount', record_payment.amount,
                               'order_amount', order_amount));
  end if;
end
{{tag}};
