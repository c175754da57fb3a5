-- Keeps a pending order from being closed until unhold_order(). Locks the order first, so that the answer is final:
-- held, already_held, or why there is nothing to hold. Executable by the owner only.
create or replace function order_timeout.set_hold(order_id bigint, "by" text, reason text) returns text
language plpgsql volatile set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
#variable_conflict use_column
declare
  placed record;
begin
  select s.pending, s.closed, s.paid into placed from order_timeout.shop_order s
   where s.id = set_hold.order_id for no key update;
  if not found then
    return 'missing';
  end if;
  if placed.pending is not true then
    return case when placed.closed then 'already_closed' when placed.paid then 'already_paid' else 'other_status' end;
  end if;
  insert into order_timeout.hold (order_id, reason, "by")
  values (set_hold.order_id, set_hold.reason, set_hold."by")
  on conflict (order_id) do nothing;
  if not found then
    return 'already_held';
  end if;
  insert into order_timeout.notice (order_id, kind, "by", reason)
  values (set_hold.order_id, 'held', set_hold."by", set_hold.reason);
  return 'held';
end
{{tag}};

-- By an operator.
create or replace function order_timeout.hold_order(order_id bigint, "by" text, reason text) returns text
language plpgsql volatile security definer set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
begin
  if btrim(coalesce(hold_order."by", '')) = '' or btrim(coalesce(hold_order.reason, '')) = '' then
    raise exception 'a hold needs a name and a reason' using errcode = 'invalid_parameter_value';
  end if;
  return order_timeout.set_hold(hold_order.order_id, hold_order."by", hold_order.reason);
end
{{tag}};

-- By the daemon, on the word of the payment gateway.
create or replace function order_timeout.hold_for_payment(order_id bigint, reason text) returns text
language sql volatile security definer set search_path = pg_catalog, order_timeout, pg_temp
begin atomic
  select order_timeout.set_hold($1, 'payment_check', $2);
end;

-- The order is judged anew: unheld, or not_held. Whoever closes holds the order's lock, so that it sees the hold or is
-- after this.
create or replace function order_timeout.unhold_order(order_id bigint, "by" text, reason text) returns text
language plpgsql volatile security definer set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
#variable_conflict use_column
declare
  lifted order_timeout.hold;
begin
  if btrim(coalesce(unhold_order."by", '')) = '' or btrim(coalesce(unhold_order.reason, '')) = '' then
    raise exception 'lifting a hold needs a name and a reason' using errcode = 'invalid_parameter_value';
  end if;
  perform 1 from order_timeout.shop_order s where s.id = unhold_order.order_id for no key update;
  delete from order_timeout.hold h where h.order_id = unhold_order.order_id returning h.* into lifted;
  if lifted.order_id is null then
    return 'not_held';
  end if;
  insert into order_timeout.notice (order_id, kind, "by", reason, detail)
  values (unhold_order.order_id, 'unheld', unhold_order."by", unhold_order.reason,
          jsonb_build_object('held_by', lifted."by", 'held_because', lifted.reason,
                             'held_since', order_timeout.rfc3339(lifted.at)));
  return 'unheld';
end
{{tag}};
