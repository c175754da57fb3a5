-- Holds an order on the word of the payment gateway. $1 id, $2 why. One row: held, already_held, or why there is
-- nothing to hold. Index: the shop's primary key.
select order_timeout.hold_for_payment($1::bigint, $2)
