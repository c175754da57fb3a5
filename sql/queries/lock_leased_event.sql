-- Locks an event for its SQL sink, if its lease is still the claim's, and gives the sink's statement the search path
-- that the database or role has set. $1 row id, $2 claim. Rows: id, search path; none where the lease is lost.
-- Index: the primary key.
select e.id,
       set_config('search_path', (select s.reset_val from pg_settings s where s.name = 'search_path'), true)
  from order_timeout.outbox e
 where e.id = $1::bigint and e.leased_by = $2 and e.status in ('PENDING', 'UNCERTAIN')
   for update
