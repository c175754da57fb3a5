-- The operator's way to close: version, action, pause, max_age and quarantine do not stop it, nor, with not_due, the
-- deadline. Held and paid orders and those with evidence of payment stay open. Leaves its row in sweep_run.
create or replace function order_timeout.close_orders_by_hand(ids bigint[], not_due boolean, "by" text,
                                                              reason text)
returns table (order_id bigint, outcome text, version int, order_no text, business_line text,
               due_ms bigint, retry_ms bigint, detail text)
language plpgsql volatile security definer set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
#variable_conflict use_column
begin
  if btrim(coalesce(close_orders_by_hand."by", '')) = '' or btrim(coalesce(close_orders_by_hand.reason, '')) = '' then
    raise exception 'a close by hand needs a name and a reason' using errcode = 'invalid_parameter_value';
  end if;
  return query
  with answers as materialized (
    select * from order_timeout.judge_and_close(ids, null, true, coalesce(not_due, false))
  ), run as (
    insert into order_timeout.sweep_run (kind, finished_at, status, scanned, closed, skipped, failed, detail)
    select 'MANUAL', clock_timestamp(), 'SUCCESS', count(*),
           count(*) filter (where a.outcome = 'closed'),
           count(*) filter (where a.outcome not in ('closed', 'failed')),
           count(*) filter (where a.outcome = 'failed'),
           jsonb_build_object(
             'by', close_orders_by_hand."by", 'reason', close_orders_by_hand.reason,
             'host', coalesce(host(inet_client_addr()), 'local'),
             'not_due', coalesce(close_orders_by_hand.not_due, false),
             'closed', coalesce(jsonb_agg(a.order_id order by a.order_id)
                                  filter (where a.outcome = 'closed'), '[]'::jsonb))
      from answers a
  )
  select * from answers;
end
{{tag}};
