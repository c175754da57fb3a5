-- Closes the orders of a batch that may be closed: the daemon's only way to (sql/functions/judge_and_close.sql).
-- $1 ids, $2 the versions they were tracked with. Rows: one an order: id, outcome, version, order_no, business_line,
-- due and retry in milliseconds, detail.
select c.order_id, c.outcome, c.version, c.order_no, c.business_line, c.due_ms, c.retry_ms, c.detail
  from order_timeout.close_orders($1::bigint[], $2::int[]) c
