-- What these orders are called, and when the database says they may be closed. $1 ids.
-- Rows: id, order_no, due in milliseconds (NULL where no rule applies). Index: the shop's primary key.
select o.id, o.order_no, order_timeout.epoch_ms(o.close_deadline)
  from order_timeout.timed_order o
 where o.id = any ($1::bigint[])
