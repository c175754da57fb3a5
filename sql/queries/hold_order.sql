-- Keeps an order from being closed. $1 id, $2 by whom, $3 why. One row: held, already_held, or why there is nothing to
-- hold. Index: the shop's primary key.
select order_timeout.hold_order($1::bigint, $2, $3)
