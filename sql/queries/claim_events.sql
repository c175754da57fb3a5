-- Leases events of one type that may be tried now to one claim, for 30 s by the database's clock. The attempt is
-- counted here, before it is made. A lease that lapsed means that nobody knows what became of the attempt: UNCERTAIN.
-- $1 event type, $2 limit, $3 the claim's own name. Rows: id, event_key, order_id, order_no, body, created and due in
-- milliseconds, attempt, uncertain; none while the event is paused. Index: outbox_claimable; a leased row comes after
-- now() in it.
with candidate as (
  select e.id, e.next_attempt_at from order_timeout.outbox e
   where e.event_type = $1 and e.status in ('PENDING', 'UNCERTAIN') and e.next_attempt_at <= now()
     and not exists (select from order_timeout.pause p
                      where p.scope = 'event:' || lower($1) and (p.until is null or p.until > now()))
   order by e.next_attempt_at
   limit $2::int
   for update skip locked
), claimed as (
  update order_timeout.outbox e
     set status = case when e.leased_by is not null then 'UNCERTAIN' else e.status end,
         attempts = e.attempts + 1,
         leased_by = $3,
         leased_until = now() + interval '30 seconds',
         next_attempt_at = now() + interval '30 seconds'
    from candidate c
   where e.id = c.id
  returning e.*, c.next_attempt_at as was_due_at
)
select c.id, c.event_key, c.order_id, c.order_no,
       c.payload || jsonb_build_object('event_id', c.event_key, 'event_type', c.event_type, 'attempt', c.attempts),
       order_timeout.epoch_ms(c.created_at), order_timeout.epoch_ms(coalesce(c.due, c.created_at)),
       c.attempts, c.status = 'UNCERTAIN'
  from claimed c
 order by c.was_due_at, c.id
