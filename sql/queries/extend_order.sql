-- Gives an order another pay deadline. $1 id, $2 until when (RFC 3339, NULL: longer by $3), $3 milliseconds, $4 by whom,
-- $5 why. One row: the deadline that holds as RFC 3339, NULL where the order does not wait for payment.
-- Index: the shop's primary key.
select order_timeout.rfc3339(order_timeout.extend_order_by_hand(
         $1::bigint, $2::timestamptz, $3::bigint * interval '1 millisecond', $4, $5))
