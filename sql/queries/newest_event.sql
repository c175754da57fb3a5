-- The newest event's id, 0 where there is none. Index: the primary key.
select coalesce(max(e.id), 0) from order_timeout.outbox e
