-- Payments seen, and what happens to orders beside closing.

create table order_timeout.payment (
  payment_id text primary key,
  order_id   bigint not null,
  amount     numeric,
  outcome    text not null check (outcome in ('PAID', 'REFUND', 'UNKNOWN_PAYMENT')),
  at         timestamptz not null default now()
);
comment on table order_timeout.payment is
  'What pay_order() and the watcher have seen; never removed, so that no payment is refunded twice.';
create index payment_order on order_timeout.payment (order_id);

create table order_timeout.notice (
  id         bigint generated always as identity primary key,
  order_id   bigint not null,
  kind       text not null
             check (kind in ('extended', 'held', 'unheld', 'refund', 'unknown_payment', 'amount_differs',
                             'paid_after_close', 'illegal_move')),
  notice_key text unique,  -- where the same is said once only
  "by"       text not null,
  reason     text,
  host       text not null default coalesce(host(inet_client_addr()), 'local'),
  detail     jsonb not null default '{}',
  at         timestamptz not null default now(),
  told_at    timestamptz   -- when the daemon wrote it into its logs and looked at the order anew
);
comment on table order_timeout.notice is
  'What happened to orders beside closing: for audit.log, for alerts, and so that they are judged anew.';
create index notice_untold on order_timeout.notice (id) where told_at is null;

-- The watcher pages through what was closed without events, or long ago.
create index closed_order_closed_at on order_timeout.closed_order (closed_at, order_id);
