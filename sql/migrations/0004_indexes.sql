-- Found by index, however many rows lie beside them.

-- Events that nobody delivers any more, counted by type.
create index outbox_dead on order_timeout.outbox (event_type) where status = 'DEAD';
-- The newest reminder of an order.
create index timeout_task_newest on order_timeout.timeout_task (order_no, id) where status = 'PENDING';
