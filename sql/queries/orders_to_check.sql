-- Of these orders those that are about to be closed and whose line wants the payment gateway asked first.
-- $1 ids, $2 business lines (as the rules name them). Rows: id, order_no, business_line, due in milliseconds.
-- Index: the shop's primary key.
select o.id, o.order_no, o.business_line, order_timeout.epoch_ms(o.close_deadline)
  from order_timeout.timed_order o
 where o.id = any ($1::bigint[]) and o.pending and o.action = 'close' and o.rule_line = any ($2::text[])
   and o.close_deadline <= now()
   and not exists (select from order_timeout.hold h where h.order_id = o.id)
