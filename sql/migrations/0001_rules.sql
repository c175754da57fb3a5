-- The rules in force and what people, payments and failures put beside them: all that close_orders judges by.

create table order_timeout.rule (
  business_line     text primary key,
  timeout           interval not null check (timeout > interval '0'),
  grace             interval not null check (grace >= interval '0'),
  action            text not null check (action in ('close', 'review', 'shadow', 'ignore')),
  on_close          text[] not null check (on_close::text = upper(on_close::text)),
  revision          bigint not null,
  max_age           interval,
  payment_max_delay interval not null default interval '10 minutes'
);
comment on table order_timeout.rule is
  'The business lines in force, written whole by apply_rules(); on_close holds event types.';

create table order_timeout.deadline_override (
  order_id   bigint primary key,
  deadline   timestamptz not null,
  reason     text,
  created_at timestamptz not null default now()
);
comment on table order_timeout.deadline_override is
  'The pay deadline of one order, changed by the shop or by hand.';

create table order_timeout.hold (
  order_id bigint primary key,
  reason   text not null,
  "by"     text not null,
  at       timestamptz not null default now()
);
comment on table order_timeout.hold is 'Orders that are not to be closed.';

create table order_timeout.pause (
  scope   text primary key check (scope = 'all' or scope like 'line:%' or scope like 'event:%'),
  since   timestamptz not null default now(),
  until   timestamptz,
  "by"    text not null,
  reason  text not null
);
comment on table order_timeout.pause is 'What rests until a time, or (until is NULL) until resumed.';

create table order_timeout.quarantine (
  order_id        bigint primary key,
  reason          text not null,
  sqlstate        text,
  error           text,
  attempts        int not null default 0,
  next_attempt_at timestamptz not null,
  at              timestamptz not null default now()
);
comment on table order_timeout.quarantine is
  'Orders whose close fails by itself; reason reopened: closed once, pending again.';

create table order_timeout.review (
  order_id      bigint primary key,
  order_no      text not null,
  business_line text,
  due_at        timestamptz not null,
  decision      text not null default 'WAITING'
                check (decision in ('WAITING', 'APPROVED', 'REJECTED')),
  decided_by    text,
  decided_at    timestamptz
);
comment on table order_timeout.review is 'Due orders that wait for a person (action review).';

create table order_timeout.shadow_decision (
  order_id      bigint primary key,
  order_no      text not null,
  business_line text,
  due_at        timestamptz not null,
  decided_at    timestamptz not null default now(),
  decision      text not null,
  reason        text
);
comment on table order_timeout.shadow_decision is
  'What would have been closed (action shadow), once per order.';
