-- Lifts a hold: the order is judged anew. $1 id, $2 by whom, $3 why. One row: unheld or not_held.
-- Index: the primary key.
select order_timeout.unhold_order($1::bigint, $2, $3)
