-- Notes that the logs have these notices. $1 ids. Index: the primary key.
update order_timeout.notice n
   set told_at = now()
 where n.id = any ($1::bigint[]) and n.told_at is null
