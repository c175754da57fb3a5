-- Removes at most 1,000 reminders that are done and older than a day. Index: timeout_task_done.
delete from order_timeout.timeout_task t
 where t.id in (select d.id from order_timeout.timeout_task d
                 where d.status = 'DONE' and d.created_at < now() - interval '1 day'
                 order by d.created_at limit 1000 for update skip locked)
