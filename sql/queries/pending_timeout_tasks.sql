-- The shop's reminders that are not done, in the order they were written; of several for one order the last counts.
-- $1 limit. Rows: id, order_no, due in milliseconds. Index: timeout_task_pending.
select t.id, t.order_no, order_timeout.epoch_ms(t.due_at)
  from order_timeout.timeout_task t
 where t.status = 'PENDING'
 order by t.id
 limit $1::int
