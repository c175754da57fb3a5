-- For the shop's own transaction: the order's pay deadline from now on, later or sooner than it was. True where it
-- holds, false where the order does not wait for payment any more.
create or replace function order_timeout.extend_order(order_id bigint, new_deadline timestamptz, reason text)
returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
begin
  if extend_order.order_id is null or extend_order.new_deadline is null or extend_order.reason is null then
    raise exception 'extend_order needs an order, a deadline and a reason: none may be NULL'
      using errcode = 'null_value_not_allowed';
  end if;
  return order_timeout.set_deadline(extend_order.order_id, extend_order.new_deadline, session_user::text,
                                    extend_order.reason);
end
{{tag}};
