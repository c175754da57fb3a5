-- The one statement of a new session: bounds on what a statement may take, and who answers us.
-- $1 statement_timeout in milliseconds. One row: the server process's id, when it started (microseconds since the
-- epoch), the settings made. Nothing depends on them for correctness: a pooler may give the next statement elsewhere.
select pg_backend_pid(),
       (select (extract(epoch from a.backend_start) * 1000000)::bigint::text
          from pg_stat_activity a where a.pid = pg_backend_pid()),
       set_config('statement_timeout', $1, false),
       set_config('lock_timeout', '500ms', false),
       set_config('idle_in_transaction_session_timeout', '10s', false),
       set_config('default_transaction_isolation', 'read committed', false),
       set_config('search_path', 'pg_catalog, order_timeout, pg_temp', false),
       set_config('TimeZone', 'UTC', false),
       set_config('client_min_messages', 'error', false),
       set_config('jit', 'off', false)
