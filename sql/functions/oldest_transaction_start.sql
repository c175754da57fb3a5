-- When the oldest transaction of this database began that may still commit an order, now() where none runs. NULL where
-- the owner may not see other sessions. A prepared transaction is known by the time it was prepared; what it wrote
-- before is found by the catch-up sweep.
create or replace function order_timeout.oldest_transaction_start() returns timestamptz
language plpgsql volatile security definer set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
begin
  if not pg_has_role(current_user, 'pg_read_all_stats', 'usage') then
    return null;
  end if;
  return least(now(),
               (select min(a.xact_start) from pg_stat_activity a
                 where a.datname = current_database() and a.pid <> pg_backend_pid()
                   and a.backend_type not in ('autovacuum worker', 'walsender')),
               (select min(x.prepared) from pg_prepared_xacts x where x.database = current_database()));
end
{{tag}};
