-- Sets an order aside whose close fails by itself; the wait doubles from one minute to one hour. Returns the next try
-- in milliseconds since the epoch.
create or replace function order_timeout.quarantine_order(id bigint, sqlstate text, error text)
returns bigint
language sql volatile security definer set search_path = pg_catalog, order_timeout, pg_temp
begin atomic
  insert into order_timeout.quarantine as q (order_id, reason, sqlstate, error, attempts, next_attempt_at)
  values ($1, 'failed', $2, left($3, 2000), 1, now() + interval '1 minute')
  on conflict (order_id) do update
     set sqlstate = excluded.sqlstate, error = excluded.error, attempts = q.attempts + 1,
         next_attempt_at = case when q.reason = 'reopened' then q.next_attempt_at
           else now() + least(interval '1 minute' * power(2, least(q.attempts, 10)), interval '1 hour') end
  returning order_timeout.epoch_ms(q.next_attempt_at);
end;
