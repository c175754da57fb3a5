-- The orders that are held, the longest first. $1 by whom (NULL: anybody).
-- Rows: id, order_no (NULL where the order is gone), why, by whom, since when and its close deadline as RFC 3339, status.
-- Index: the shop's primary key.
select h.order_id, o.order_no, h.reason, h."by", order_timeout.rfc3339(h.at),
       order_timeout.rfc3339(o.close_deadline), o.status
  from order_timeout.hold h
  left join order_timeout.timed_order o on o.id = h.order_id
 where $1::text is null or h."by" = $1::text
 order by h.at, h.order_id
