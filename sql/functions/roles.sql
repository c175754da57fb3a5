-- The roles, cluster-wide, made where they are missing. No password is set: how they log in is the DBA's.
do {{tag}}
declare
  wanted record;
begin
  for wanted in
    select * from (values ('order_timeout_owner', 'nologin'), ('order_timeout_daemon', 'login'),
                          ('order_timeout_operator', 'login'), ('order_timeout_shop', 'nologin'),
                          ('order_timeout_reader', 'nologin')) as roles (name, may_login)
  loop
    if not exists (select from pg_roles r where r.rolname = wanted.name) then
      begin
        execute format('create role %I %s', wanted.name, wanted.may_login);
      exception when duplicate_object or unique_violation then
        null;  -- another database of this cluster was faster
      end;
    end if;
  end loop;
  -- Whoever installs makes the objects in the owner's name.
  if not pg_has_role(current_user, 'order_timeout_owner', 'member') then
    execute format('grant order_timeout_owner to %I', current_user);
  end if;
  -- Lets discovery see the oldest transaction that is still running; without it, it reads a fixed overlap again.
  if not pg_has_role('order_timeout_owner', 'pg_read_all_stats', 'usage') then
    begin
      grant pg_read_all_stats to order_timeout_owner;
    exception when insufficient_privilege then
      raise notice 'order_timeout_owner is no member of pg_read_all_stats: a superuser may grant it';
    end;
  end if;
end
{{tag}};
