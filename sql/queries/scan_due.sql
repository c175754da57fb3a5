-- A page of all pending orders with those marked that are past their deadline and grace (nightly sweep). Left out are
-- orders that are set aside (timed_order).
-- $1 and $2 created_at (in the column's own text) and id of the last order read, $3 page size.
-- Rows: id, due in milliseconds, version, created_at as text, wanted, too old.
-- Index: the shop's on created_at where pending; $1 takes the column's type from the comparison.
select p.id, order_timeout.epoch_ms(p.close_deadline), p.version, to_json(p.created_raw) #>> '{}',
       p.listed and p.due and not p.too_old and not p.set_aside,
       p.listed and p.too_old
  from (select o.id, o.close_deadline, o.version, o.created_raw, o.set_aside,
               o.action is not null and o.action <> 'ignore' as listed,
               coalesce(o.close_deadline <= now(), false) as due,
               coalesce(now() > o.close_deadline + o.max_age, false) as too_old
          from order_timeout.timed_order o
         where o.pending and (o.created_raw, o.id) > ($1, $2::bigint)
         order by o.created_raw, o.id
         limit $3::int) p
 order by p.created_raw, p.id
