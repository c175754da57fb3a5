-- The daemon's way to close: by the rules in force, by the database's clock, one outcome per order.
create or replace function order_timeout.close_orders(ids bigint[], versions int[])
returns table (order_id bigint, outcome text, version int, order_no text, business_line text,
               due_ms bigint, retry_ms bigint, detail text)
language plpgsql volatile security definer set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
begin
  return query select * from order_timeout.judge_and_close(ids, versions, false, false);
end
{{tag}};
