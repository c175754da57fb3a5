-- Events that are not delivered, by type and status. Rows: event type, status, count, seconds since the oldest of them
-- could have been claimed. Index: outbox_claimable for what waits, outbox_dead for what is dead.
select e.event_type, e.status, count(*),
       coalesce(extract(epoch from max(now() - e.next_attempt_at)
                          filter (where e.next_attempt_at <= now())), 0)::float8
  from order_timeout.outbox e
 where e.status in ('PENDING', 'UNCERTAIN')
 group by e.event_type, e.status
union all
select e.event_type, e.status, count(*), 0::float8
  from order_timeout.outbox e
 where e.status = 'DEAD'
 group by e.event_type, e.status
