-- Which of our server processes, whose connections were cut, are still there.
-- $1 process ids, $2 their starts as session_settings gave them, '' where unknown. Rows: process id, start.
select l.pid, l.started
  from unnest($1::int[], $2::text[]) as l (pid, started)
 where exists (select from pg_stat_activity a
                where a.pid = l.pid
                  and l.started in ('', (extract(epoch from a.backend_start) * 1000000)::bigint::text))
