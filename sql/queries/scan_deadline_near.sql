-- A page of the pending orders whose own deadline, with its grace, passed in the last ten seconds or comes within five:
-- one that the shop has just brought forward is seen at once. Left out are orders that are set aside (timed_order).
-- Nothing where the shop has no index that begins with the column: the catch-up finds those.
-- $1 and $2 created_at (in the column's own text) and id of the last order read, $3 page size.
-- Rows: id, due in milliseconds, version, created_at as text, wanted, too old.
-- Index: the shop's on its deadline column; $1 takes the created_at column's type from the comparison.
with indexed as materialized (
  select exists (
    select from order_timeout.shop_mapping m
      join pg_index i on i.indrelid = m.table_oid
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
     where i.indisvalid and a.attname = m.mapping::jsonb #>> '{columns,deadline}') as yes,
         (select max(r.grace) from order_timeout.rule r) as longest_grace
), near as materialized (
  select o.id, o.close_deadline, o.version, o.created_raw, o.set_aside,
         o.action is not null and o.action <> 'ignore' as listed,
         coalesce(now() > o.close_deadline + o.max_age, false) as too_old
    from order_timeout.timed_order o
   where (select x.yes from indexed x) and o.pending
     and o.deadline_raw >= order_timeout.shop_time(
           now() - (select x.longest_grace from indexed x) - interval '10 seconds', o.deadline_raw)
     and o.deadline_raw <= order_timeout.shop_time(now() + interval '5 seconds', o.deadline_raw)
)
select p.id, order_timeout.epoch_ms(p.close_deadline), p.version, to_json(p.created_raw) #>> '{}',
       p.listed and not p.too_old and not p.set_aside, p.listed and p.too_old
  from near p
 where (p.created_raw, p.id) > ($1, $2::bigint)
 order by p.created_raw, p.id
 limit $3::int
