-- Removes at most `max` delivered events that finished longer ago than `age`, and remembers their orders first: an
-- order that is reopened later must not release its stock twice. Returns how many.
-- The records of catch-up scans, one a minute, and notices that were told go at the same age; not those that are said
-- once only.
create or replace function order_timeout.retire_events(age interval, max int) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
declare
  removed bigint;
begin
  with old as materialized (
    select e.id, e.order_id, e.event_type, e.created_at from order_timeout.outbox e
     where e.status = 'SUCCESS' and e.finished_at < now() - age
     order by e.finished_at limit retire_events.max for update skip locked
  ), remembered as (
    insert into order_timeout.closed_order (order_id, closed_at)
    select o.order_id, min(o.created_at) from old o where o.event_type <> 'REFUND'
     group by o.order_id order by o.order_id
    on conflict (order_id) do nothing
  ), gone as (
    delete from order_timeout.outbox e using old o where e.id = o.id returning 1
  )
  select count(*) into removed from gone;
  delete from order_timeout.sweep_run s
   where s.kind in ('CATCH_UP', 'STARTUP') and s.finished_at < now() - age;
  delete from order_timeout.notice n
   where n.id in (select o.id from order_timeout.notice o
                   where o.told_at < now() - age and o.notice_key is null
                   order by o.id limit retire_events.max);
  return removed;
end
{{tag}};
