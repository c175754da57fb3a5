-- Closes orders by hand and leaves its sweep_run row, in one transaction.
-- $1 order ids, $2 those not due as well, $3 by whom, $4 why. Rows: order id, outcome, order_no, detail.
-- Index: the shop's primary key.
select c.order_id, c.outcome, c.order_no, c.detail
  from order_timeout.close_orders_by_hand($1::bigint[], $2::boolean, $3, $4) c
