-- The database's clock in whole milliseconds, rounded down: what we take for now is never ahead of it.
select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
