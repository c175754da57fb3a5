-- Records how a sweep ended. $1 id, $2 status, $3 scanned, $4 closed (of what it found), $5 skipped, $6 failed,
-- $7 detail as JSON or ''. Index: the primary key.
update order_timeout.sweep_run r
   set finished_at = now(), status = $2, scanned = $3::bigint, closed = $4::bigint, skipped = $5::bigint,
       failed = $6::bigint, detail = nullif($7, '')::jsonb
 where r.id = $1::bigint
