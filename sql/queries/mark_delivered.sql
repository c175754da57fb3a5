-- Writes SUCCESS in the transaction of the effect. $1 row id, $2 claim. Changes one row. Index: the primary key.
update order_timeout.outbox e
   set status = 'SUCCESS', finished_at = now(), last_error = null, leased_by = null, leased_until = null
 where e.id = $1::bigint and e.leased_by = $2
