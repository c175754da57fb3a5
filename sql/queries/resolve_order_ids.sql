-- The orders with these ids. $1 ids.
-- Rows: id as text, pending, id, due in milliseconds, version, may be closed some day. Index: the shop's primary key.
select o.id::text, o.pending, o.id, order_timeout.epoch_ms(o.close_deadline), o.version,
       o.action is not null and o.action <> 'ignore'
  from order_timeout.timed_order o
 where o.id = any ($1::bigint[])
