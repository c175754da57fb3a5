-- A page of the pending orders created since a watermark, oldest first.
-- $1 the watermark in milliseconds since the epoch, $2 and $3 created_at (in the column's own text) and id of the last
-- order read ('-infinity' and the least bigint: from the watermark on), $4 page size.
-- Rows: id, due in milliseconds, version, created_at as text, may be closed some day (a rule that closes).
-- Index: the shop's on created_at where pending; $2 takes the column's type from the comparison.
select o.id, order_timeout.epoch_ms(o.close_deadline), o.version, to_json(o.created_raw) #>> '{}',
       o.action is not null and o.action <> 'ignore'
  from order_timeout.timed_order o
 where o.pending
   and o.created_raw >= order_timeout.shop_time(order_timeout.from_epoch_ms($1::bigint), o.created_raw)
   and (o.created_raw, o.id) > ($2, $3::bigint)
 order by o.created_raw, o.id
 limit $4::int
