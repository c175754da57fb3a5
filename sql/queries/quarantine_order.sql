-- Sets an order aside whose close fails by itself. $1 id, $2 SQLSTATE, $3 error. One row: the next try in milliseconds.
select order_timeout.quarantine_order($1::bigint, $2, $3)
