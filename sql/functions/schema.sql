-- The schema and the list of migrations applied to it; from here on everything is made in the owner's name.
create schema if not exists order_timeout authorization order_timeout_owner;
set local role order_timeout_owner;
create table if not exists order_timeout.schema_version (
  version    int primary key,
  name       text not null,
  applied_at timestamptz not null default now()
);
