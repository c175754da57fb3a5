-- A page of the shop's reminders that are not done, in the order they were written; of several for one order the last.
-- $1 the last id read, $2 page size. Rows: id, order_no, due in milliseconds, stale (old enough that an order it names
-- would be there). Index: timeout_task_pending, timeout_task_newest.
select t.id, t.order_no, order_timeout.epoch_ms(t.due_at),
       t.created_at < now() - interval '1 day' and t.due_at < now()
  from order_timeout.timeout_task t
 where t.status = 'PENDING' and t.id > $1::bigint
   and not exists (select from order_timeout.timeout_task n
                    where n.status = 'PENDING' and n.order_no = t.order_no and n.id > t.id)
 order by t.id
 limit $2::int
