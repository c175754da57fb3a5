-- A page of the pending orders that became due since an instant (catch-up): by timeout, by their own deadline, by an
-- override. Left out are orders that are set aside (timed_order).
-- $1 the instant in milliseconds since the epoch, $2 and $3 created_at (in the column's own text) and id of the last
-- order read, $4 page size. Rows: id, due in milliseconds, version, created_at as text, wanted, too old.
-- Index: the shop's on created_at where pending (no order is due earlier than the shortest timeout after its creation
-- unless a deadline says so), the shop's on its deadline column where it has one, its primary key.
with bound as materialized (
  select order_timeout.from_epoch_ms($1::bigint) as since, max(r.timeout + r.grace) as longest,
         min(r.timeout + r.grace) as shortest, max(r.grace) as longest_grace
    from order_timeout.rule r
), candidate as (
  (select o.id, o.created_raw from order_timeout.timed_order o
    where o.pending and (o.created_raw, o.id) > ($2, $3::bigint)
      and o.created_raw >= order_timeout.shop_time((select b.since - b.longest from bound b), o.created_raw)
      and o.created_raw <= order_timeout.shop_time((select now() - b.shortest from bound b), o.created_raw)
      and o.close_deadline >= (select b.since from bound b) and o.close_deadline <= now()
    order by o.created_raw, o.id limit $4::int)
  union
  (select o.id, o.created_raw from order_timeout.timed_order o
    where o.pending and (o.created_raw, o.id) > ($2, $3::bigint)
      and o.deadline_raw >= order_timeout.shop_time((select b.since - b.longest_grace from bound b), o.deadline_raw)
      and o.deadline_raw <= order_timeout.shop_time(now(), o.deadline_raw)
      and o.close_deadline >= (select b.since from bound b) and o.close_deadline <= now()
    order by o.created_raw, o.id limit $4::int)
  union
  (select o.id, o.created_raw from order_timeout.deadline_override v
     join order_timeout.timed_order o on o.id = v.order_id
    where o.pending and (o.created_raw, o.id) > ($2, $3::bigint)
      and v.deadline >= (select b.since - b.longest_grace from bound b) and v.deadline <= now()
      and o.close_deadline >= (select b.since from bound b) and o.close_deadline <= now()
    order by o.created_raw, o.id limit $4::int)
  order by created_raw, id limit $4::int
)
select p.id, order_timeout.epoch_ms(p.close_deadline), p.version, to_json(p.created_raw) #>> '{}',
       p.action <> 'ignore' and not coalesce(now() > p.close_deadline + p.max_age, false)
         and not p.set_aside,
       p.action <> 'ignore' and coalesce(now() > p.close_deadline + p.max_age, false)
  from candidate c join order_timeout.timed_order p on p.id = c.id
 order by p.created_raw, p.id
