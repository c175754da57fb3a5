-- Looks after a page of the orders closed without events, or remembered beyond them, of the last 30 days: late payments
-- and illegal moves (watch_closed).
-- $1 and $2 closed_at (text) and id of the last order looked at, $3 page size.
-- One row: closed_at and id of the page's last order (NULL: none), rows, orders touched. Index: closed_order_closed_at.
with page as materialized (
  select c.order_id, c.closed_at from order_timeout.closed_order c
   where (c.closed_at, c.order_id) > (greatest($1::timestamptz, now() - interval '30 days'), $2::bigint)
   order by c.closed_at, c.order_id
   limit $3::int
)
select (array_agg(p.closed_at::text order by p.closed_at desc, p.order_id desc))[1],
       (array_agg(p.order_id order by p.closed_at desc, p.order_id desc))[1], count(*),
       order_timeout.watch_closed(array(select c.order_id from page c))
  from page p
