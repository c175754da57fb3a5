-- Looks after the orders of a page of events, oldest first: late payments and illegal moves (watch_closed).
-- $1 the last event's id looked at, $2 page size. One row: the last id of the page (NULL: none), rows, orders touched.
-- Index: the primary key.
with page as materialized (
  select e.id, e.order_id, e.event_type from order_timeout.outbox e
   where e.id > $1::bigint
   order by e.id
   limit $2::int
)
select max(p.id), count(*),
       order_timeout.watch_closed(array(select distinct c.order_id from page c where c.event_type <> 'REFUND'))
  from page p
