-- Removes delivered events beyond their retention. $1 age in milliseconds, $2 limit. One row: how many.
select order_timeout.retire_events($1::bigint * interval '1 millisecond', $2::int)
