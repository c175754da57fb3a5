-- Orders that the given rules would close at once and the rules in force would not: what a reload or a start sets off.
-- $1 the rules as apply_rules() reads them. Rows: the line whose rule it is, orders. Changes nothing.
-- Index: the shop's on created_at where pending.
with wanted as materialized (
  select l.key as business_line, l.value ->> 'action' as action,
         (l.value ->> 'timeout_ms')::bigint * interval '1 millisecond' as timeout,
         (l.value ->> 'grace_ms')::bigint * interval '1 millisecond' as grace
    from jsonb_each($1::jsonb -> 'lines') l
), judged as (
  select coalesce(l.business_line, d.business_line) as rule_line, coalesce(l.action, d.action) as action,
         coalesce(v.deadline, o.deadline, o.created_at + coalesce(l.timeout, d.timeout))
           + coalesce(l.grace, d.grace) as close_deadline,
         o.action = 'close' and o.close_deadline <= now()
           and not coalesce(now() > o.close_deadline + o.max_age, false) as due_already
    from order_timeout.timed_order o
    left join order_timeout.deadline_override v on v.order_id = o.id
    left join wanted l on l.business_line = o.business_line
    left join wanted d on d.business_line = 'default'
   where o.pending and not exists (select from order_timeout.hold h where h.order_id = o.id)
)
select j.rule_line, count(*)
  from judged j
 where j.action = 'close' and j.close_deadline <= now() and due_already is not true
   and now() <= j.close_deadline + ($1::jsonb ->> 'max_age_ms')::bigint * interval '1 millisecond'
 group by j.rule_line
 order by count(*) desc, j.rule_line
