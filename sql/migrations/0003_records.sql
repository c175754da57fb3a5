-- What was run, and which shop our objects were made for.

create table order_timeout.sweep_run (
  id          bigint generated always as identity primary key,
  kind        text not null check (kind in ('NIGHTLY', 'CATCH_UP', 'MANUAL', 'STARTUP')),
  started_at  timestamptz not null default now(),
  finished_at timestamptz,
  status      text not null default 'RUNNING'
              check (status in ('RUNNING', 'SUCCESS', 'FAILED', 'INTERRUPTED')),
  scanned     bigint not null default 0,
  closed      bigint not null default 0,
  skipped     bigint not null default 0,
  failed      bigint not null default 0,
  detail      jsonb,
  audited_at  timestamptz  -- when the daemon wrote a close by hand into its audit log
);
comment on table order_timeout.sweep_run is 'One row a sweep or a close by hand.';
create index sweep_run_kind on order_timeout.sweep_run (kind, started_at desc);
create index sweep_run_to_audit on order_timeout.sweep_run (id) where kind = 'MANUAL' and audited_at is null;

create table order_timeout.shop_mapping (
  only_row     boolean primary key default true check (only_row),
  mapping      text not null,
  table_name   text not null,
  table_oid    oid not null,
  columns      jsonb not null,
  other_tables jsonb not null,
  recorded_at  timestamptz not null default now()
);
comment on table order_timeout.shop_mapping is
  'The order_table section our views were made from, and the tables and column types found then.';
