-- The one place that computes a deadline: the order's override, else its own, else created_at + timeout of its line
-- (of `default` where the line is not listed). Without a rule there is no action and no deadline. Orders that are set
-- aside would only be answered as before: held, in quarantine, waiting for a review, shadowed.
create view order_timeout.timed_order as
select o.*,
       coalesce(l.business_line, d.business_line) as rule_line,
       coalesce(l.action, d.action) as action,
       coalesce(l.on_close, d.on_close) as on_close,
       case when l.business_line is null then d.max_age else l.max_age end as max_age,
       coalesce(l.payment_max_delay, d.payment_max_delay) as payment_max_delay,
       case when coalesce(l.business_line, d.business_line) is not null
            then coalesce(v.deadline, o.deadline,
                          order_timeout.later(o.created_at, coalesce(l.timeout, d.timeout)),
                          'infinity') end as pay_deadline,
       order_timeout.later(
         coalesce(v.deadline, o.deadline,
                  order_timeout.later(o.created_at, coalesce(l.timeout, d.timeout)), 'infinity'),
         coalesce(l.grace, d.grace)) as close_deadline,
       case when coalesce(l.business_line, d.business_line) is null then null
            when v.deadline is not null then 'override'
            when o.deadline is not null then 'own'
            else 'timeout' end as deadline_from,
       exists (select from order_timeout.hold h where h.order_id = o.id)
         or exists (select from order_timeout.quarantine q where q.order_id = o.id and q.next_attempt_at > now())
         or coalesce(l.action, d.action) = 'review' and exists (
              select from order_timeout.review r where r.order_id = o.id and r.decision <> 'APPROVED')
         or coalesce(l.action, d.action) = 'shadow' and exists (
              select from order_timeout.shadow_decision s where s.order_id = o.id) as set_aside
  from order_timeout.shop_order o
  left join order_timeout.deadline_override v on v.order_id = o.id
  left join order_timeout.rule l on l.business_line = o.business_line
  left join order_timeout.rule d on d.business_line = 'default';
