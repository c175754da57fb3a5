-- The close rule. The first statement only locks; what somebody else holds is skipped, never waited for. The second,
-- with a snapshot taken after the locks, judges, closes and writes the events. One statement for both would be wrong:
-- it would see payments, holds and overrides as they were before the locks. FOR UPDATE, because a payment row in
-- flight holds KEY SHARE on its order. Executable by the owner only; close_orders and close_orders_by_hand call it.
create or replace function order_timeout.judge_and_close(ids bigint[], versions int[], by_hand boolean,
                                                         not_due boolean)
returns table (order_id bigint, outcome text, version int, order_no text, business_line text,
               due_ms bigint, retry_ms bigint, detail text)
language plpgsql volatile set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
#variable_conflict use_column
declare
  locked_ids bigint[];
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'orders are closed in READ COMMITTED only, not in %', current_setting('transaction_isolation')
      using errcode = 'invalid_transaction_state';
  end if;

  locked_ids := array(select s.id::bigint from order_timeout.shop_order s
                       where s.id = any (ids) order by s.id for update skip locked);

  return query
  with asked as (
    select distinct on (a.id) a.id, a.version
      from unnest(ids, versions) as a (id, version)
     where a.id is not null
     order by a.id, a.version
  ), judged as materialized (
    select a.id as order_id, o.version, o.order_no, o.business_line, o.on_close, o.close_deadline,
           o.deadline_from, q.next_attempt_at, h.reason as hold_reason, p.until as paused_until,
           case when o.paid_at is not null then 'paid_at=' || order_timeout.rfc3339(o.paid_at)
                else 'payment=' || y.payment_id || ' status=' || y.status end as evidence,
           'payment=' || n.payment_id || ' status=' || n.status as newest_payment,
           case
             when o.id is null then 'missing'
             when a.id <> all (locked_ids) then 'locked'
             when o.closed then 'already_closed'
             when o.paid then 'already_paid'
             when o.pending is not true then 'other_status'
             when not by_hand and a.version <> o.version then 'version_moved'
             when o.action is null then 'not_listed'
             when now() < o.close_deadline and not (by_hand and not_due) then 'not_due'
             when not by_hand and o.action = 'ignore' then 'ignored'
             when q.reason = 'reopened'
               or exists (select from order_timeout.closed_order c where c.order_id = a.id)
               or exists (select from order_timeout.outbox e
                           where e.order_id = a.id and e.event_type <> 'REFUND') then 'reopened'
             when h.order_id is not null then 'held'
             when not by_hand and p.scope is not null then 'paused'
             when not by_hand and q.next_attempt_at > now() then 'quarantined'
             when o.paid_at is not null or y.payment_id is not null then 'payment_evidence'
             when n.in_progress and now() <= o.close_deadline + o.payment_max_delay
               then 'payment_in_progress'
             when n.in_progress then 'payment_overdue'
             when not by_hand and now() > o.close_deadline + o.max_age then 'too_old'
             when not by_hand and o.action = 'review' then 'for_review'
             when not by_hand and o.action = 'shadow' then 'shadowed'
             else 'closed'
           end as verdict
      from asked a
      left join order_timeout.timed_order o on o.id = a.id
      left join order_timeout.hold h on h.order_id = a.id
      left join order_timeout.quarantine q on q.order_id = a.id
      left join lateral (
        select s.scope, s.until from order_timeout.pause s
         where s.scope in ('all', 'line:' || o.business_line, 'line:' || o.rule_line)
           and (s.until is null or s.until > now())
         order by s.until desc nulls first limit 1) p on true
      left join lateral (
        select m.payment_id, m.status from order_timeout.shop_payment m
         where m.order_id = a.id and m.paid limit 1) y on true
      left join lateral (
        select m.payment_id, m.status, m.in_progress from order_timeout.shop_payment m
         where m.order_id = a.id
         order by m.created_raw desc nulls last, m.in_progress desc limit 1) n on true
  ), closing as (
    update {{order_table}} as o
       set {{close_assignments}}
      from judged j
     where j.verdict = 'closed' and {{id}} = j.order_id and {{status}} = {{status_pending}}
    returning {{id}}::bigint as order_id, {{version_mark}} as version, {{status}} = {{status_closed}} as closed,
              to_jsonb({{user_id}}) as user_id, to_jsonb({{amount}}) as amount
  ), closed as (
    select c.order_id, c.version, j.order_no, j.on_close, least(j.close_deadline, now()) as due,
           jsonb_build_object('order_id', c.order_id, 'order_no', j.order_no, 'user_id', c.user_id,
                              'business_line', j.business_line, 'amount', c.amount,
                              'closed_at', order_timeout.rfc3339(now()))
           || case when {{items_mapped}} then jsonb_build_object('items', coalesce(
                (select jsonb_agg(i.item order by i.item) from order_timeout.shop_item i
                  where i.order_id = c.order_id), '[]'::jsonb)) else '{}'::jsonb end as payload
      from closing c join judged j on j.order_id = c.order_id
     where c.closed
  ), events as (
    insert into order_timeout.outbox (event_key, order_id, order_no, event_type, payload, due)
    select c.order_id || ':' || t.event_type, c.order_id, c.order_no, t.event_type, c.payload, c.due
      from closed c cross join lateral unnest(c.on_close) as t (event_type)
     order by c.order_id
  ), without_events as (
    insert into order_timeout.closed_order (order_id, closed_at)
    select c.order_id, now() from closed c where cardinality(c.on_close) = 0
  ), released as (
    delete from order_timeout.quarantine q using closed c where q.order_id = c.order_id
  ), reopened as (
    insert into order_timeout.quarantine as q (order_id, reason, next_attempt_at)
    select j.order_id, 'reopened', 'infinity' from judged j where j.verdict = 'reopened'
    on conflict (order_id) do update set reason = 'reopened', next_attempt_at = 'infinity'
      where q.reason <> 'reopened'
  ), holding as (
    insert into order_timeout.hold (order_id, reason, "by")
    select j.order_id, case j.verdict when 'payment_evidence' then j.evidence else j.newest_payment end,
           case j.verdict when 'payment_evidence' then 'payment_evidence' else 'payment_check' end
      from judged j where j.verdict in ('payment_evidence', 'payment_overdue')
    on conflict (order_id) do nothing
  ), reviewing as (
    insert into order_timeout.review (order_id, order_no, business_line, due_at)
    select j.order_id, j.order_no, j.business_line, j.close_deadline
      from judged j where j.verdict = 'for_review'
    on conflict (order_id) do nothing
  ), shadowing as (
    insert into order_timeout.shadow_decision (order_id, order_no, business_line, due_at, decision, reason)
    select j.order_id, j.order_no, j.business_line, j.close_deadline, 'closed',
           'deadline_from=' || j.deadline_from
      from judged j where j.verdict = 'shadowed'
    on conflict (order_id) do nothing
  )
  select j.order_id,
         case when j.verdict = 'closed' and c.order_id is null or j.verdict = 'quarantined' then 'failed'
              when j.verdict = 'payment_overdue' then 'held'
              else j.verdict end,
         coalesce(c.version, j.version), j.order_no, j.business_line,
         order_timeout.epoch_ms(j.close_deadline),
         order_timeout.epoch_ms(
           case j.verdict when 'not_due' then j.close_deadline
                          when 'paused' then least(j.paused_until, now() + interval '5 seconds')
                          when 'quarantined' then j.next_attempt_at
                          when 'payment_in_progress' then now() + interval '5 seconds' end),
         case j.verdict when 'held' then j.hold_reason
                        when 'payment_evidence' then j.evidence
                        when 'payment_in_progress' then j.newest_payment
                        when 'payment_overdue' then j.newest_payment
                        when 'quarantined' then 'quarantined'
                        when 'version_moved' then 'version=' || j.version
                        when 'not_due' then 'deadline_from=' || j.deadline_from
                        when 'closed' then case when c.order_id is null then 'update changed no row'
                                                else 'deadline_from=' || j.deadline_from end end
    from judged j left join closed c on c.order_id = j.order_id
   order by j.order_id;
end
{{tag}};
