-- What happened to orders beside closing and is not in the logs yet, oldest first. $1 limit.
-- Rows: id, order id, order_no, business_line, kind, by whom, why, from where, detail as JSON, when in milliseconds,
-- may be closed some day (pending, with a rule that closes), then id, due in milliseconds and version to track it by.
-- Index: notice_untold, the shop's primary key.
select n.id, n.order_id, o.order_no, o.business_line, n.kind, n."by", n.reason, n.host, n.detail::text,
       order_timeout.epoch_ms(n.at), o.pending and o.action is not null and o.action <> 'ignore',
       n.order_id, order_timeout.epoch_ms(o.close_deadline), o.version
  from (select u.* from order_timeout.notice u
         where u.told_at is null
         order by u.id
         limit $1::int) n
  left join order_timeout.timed_order o on o.id = n.order_id
 order by n.id
