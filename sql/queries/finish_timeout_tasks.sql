-- Marks the reminders of these orders as done, up to the last one that was read: a newer one stays.
-- $1 order numbers, $2 the last id read for each. Index: timeout_task_newest.
update order_timeout.timeout_task t
   set status = 'DONE'
  from unnest($1::text[], $2::bigint[]) as f (order_no, last_id)
 where t.status = 'PENDING' and t.order_no = f.order_no and t.id <= f.last_id
