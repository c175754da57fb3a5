-- Notes that the audit log has these closes by hand. $1 runs. Index: the primary key.
update order_timeout.sweep_run r
   set audited_at = now()
 where r.id = any ($1::bigint[]) and r.kind = 'MANUAL' and r.audited_at is null
