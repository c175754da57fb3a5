-- Writes what became of attempts, only where the lease is still the same claim's.
-- $1 row ids, $2 claims, $3 statuses, $4 waits in milliseconds, $5 attempts spent, $6 last errors ('' for none).
-- Changes one row for each lease that was still ours. Index: the primary key.
update order_timeout.outbox e
   set status = f.status,
       attempts = case when f.spent then e.attempts else greatest(e.attempts - 1, 0) end,
       next_attempt_at = now() + f.wait_ms * interval '1 millisecond',
       last_error = nullif(f.error, ''),
       finished_at = case when f.status in ('SUCCESS', 'DEAD') then now() end,
       leased_by = null,
       leased_until = null
  from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::boolean[], $6::text[])
       as f (id, claim, status, wait_ms, spent, error)
 where e.id = f.id and e.leased_by = f.claim and e.status in ('PENDING', 'UNCERTAIN')
