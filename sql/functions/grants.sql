-- Who may do what. Nothing is for everyone; the daemon can neither write the shop's tables nor close by hand.
revoke all on all tables in schema order_timeout
  from public, order_timeout_daemon, order_timeout_operator, order_timeout_shop, order_timeout_reader;
revoke all on all functions in schema order_timeout
  from public, order_timeout_daemon, order_timeout_operator, order_timeout_shop, order_timeout_reader;
grant usage on schema order_timeout
  to order_timeout_daemon, order_timeout_operator, order_timeout_shop, order_timeout_reader;

-- The views call these in the name of whoever reads them.
grant execute on function
  order_timeout.instant(timestamptz), order_timeout.instant(timestamp),
  order_timeout.shop_time(timestamptz, timestamptz), order_timeout.shop_time(timestamptz, timestamp),
  order_timeout.order_number_keys(text[], text), order_timeout.order_number_keys(text[], varchar),
  order_timeout.order_number_keys(text[], bigint),
  order_timeout.epoch_ms(timestamptz), order_timeout.from_epoch_ms(bigint), order_timeout.rfc3339(timestamptz),
  order_timeout.later(timestamptz, interval)
  to order_timeout_daemon, order_timeout_operator, order_timeout_shop, order_timeout_reader;

grant select on order_timeout.shop_order, order_timeout.timed_order, order_timeout.order_deadline,
  order_timeout.rule, order_timeout.hold, order_timeout.quarantine, order_timeout.deadline_override,
  order_timeout.pause, order_timeout.closed_order, order_timeout.shop_mapping, order_timeout.schema_version,
  order_timeout.outbox, order_timeout.timeout_task, order_timeout.sweep_run, order_timeout.review,
  order_timeout.shadow_decision, order_timeout.payment, order_timeout.notice
  to order_timeout_daemon;
grant update (status, attempts, next_attempt_at, last_error, finished_at, leased_by, leased_until)
  on order_timeout.outbox to order_timeout_daemon;
grant update (status), delete on order_timeout.timeout_task to order_timeout_daemon;
grant insert, update on order_timeout.sweep_run to order_timeout_daemon;
-- Guards pause, and order-timeoutctl works with the daemon's login.
grant insert, update, delete on order_timeout.pause to order_timeout_daemon;
grant update (told_at) on order_timeout.notice to order_timeout_daemon;
grant execute on function
  order_timeout.close_orders(bigint[], int[]), order_timeout.apply_rules(bigint, jsonb),
  order_timeout.quarantine_order(bigint, text, text), order_timeout.oldest_transaction_start(),
  order_timeout.mapping_state(text), order_timeout.retire_events(interval, int),
  order_timeout.watch_closed(bigint[]), order_timeout.hold_for_payment(bigint, text)
  to order_timeout_daemon;

grant select on all tables in schema order_timeout to order_timeout_operator, order_timeout_reader;
grant insert, delete on order_timeout.hold, order_timeout.pause, order_timeout.quarantine
  to order_timeout_operator;
grant update on order_timeout.pause to order_timeout_operator;
grant execute on function
  order_timeout.close_orders_by_hand(bigint[], boolean, text, text), order_timeout.mapping_state(text),
  order_timeout.oldest_transaction_start(), order_timeout.hold_order(bigint, text, text),
  order_timeout.unhold_order(bigint, text, text),
  order_timeout.extend_order_by_hand(bigint, timestamptz, interval, text, text)
  to order_timeout_operator;

grant execute on function
  order_timeout.pay_order(bigint, text, numeric), order_timeout.extend_order(bigint, timestamptz, text)
  to order_timeout_shop;
grant select on order_timeout.order_deadline to order_timeout_shop;
grant insert (order_no, due_at) on order_timeout.timeout_task to order_timeout_shop;
