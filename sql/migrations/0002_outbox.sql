-- Events on their way, orders remembered beyond them, and the shop's way in when Redis is down.

create table order_timeout.outbox (
  id              bigint generated always as identity primary key,
  event_key       text not null unique,
  order_id        bigint not null,
  order_no        text not null,
  event_type      text not null,
  payload         jsonb not null,
  status          text not null default 'PENDING'
                  check (status in ('PENDING', 'UNCERTAIN', 'SUCCESS', 'DEAD')),
  attempts        int not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error      text,
  created_at      timestamptz not null default now(),
  finished_at     timestamptz,
  leased_by       text,
  leased_until    timestamptz,
  due             timestamptz
) with (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
comment on table order_timeout.outbox is
  'One row an event; event_key is the idempotency key; due is when the order could be closed.';

-- A leased row has next_attempt_at = leased_until, so that a claim passes it over in this index.
create index outbox_claimable on order_timeout.outbox (event_type, next_attempt_at)
  where status in ('PENDING', 'UNCERTAIN');
create index outbox_order on order_timeout.outbox (order_id);
create index outbox_finished on order_timeout.outbox (finished_at) where finished_at is not null;

create table order_timeout.closed_order (
  order_id  bigint primary key,
  closed_at timestamptz not null
);
comment on table order_timeout.closed_order is
  'Orders closed once: what retention leaves of them, or a close without events.';

create table order_timeout.timeout_task (
  id         bigint generated always as identity primary key,
  order_no   text not null,
  due_at     timestamptz not null,
  status     text not null default 'PENDING' check (status in ('PENDING', 'DONE')),
  created_at timestamptz not null default now()
);
comment on table order_timeout.timeout_task is
  'A reminder by the shop when Redis is down: due_at has the meaning of a Redis score.';
create index timeout_task_pending on order_timeout.timeout_task (id) where status = 'PENDING';
create index timeout_task_done on order_timeout.timeout_task (created_at) where status = 'DONE';
