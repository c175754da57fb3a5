-- The pending orders that a close by hand would take, oldest deadline first.
-- $1 order numbers (NULL: any), $2 user (NULL: any), $3 business line (NULL: any), $4 and $5 created from and to as
-- timestamptz (NULL: open), $6 those not due as well, $7 limit. Rows: id, order_no, business_line, close_deadline as
-- RFC 3339, overdue (false: --not-due is needed). Index: the shop's on order_no, or on created_at where pending.
select o.id, o.order_no, o.business_line, order_timeout.rfc3339(o.close_deadline), o.close_deadline <= now()
  from order_timeout.timed_order o
 where o.pending
   and ($1::text is null or o.order_no_raw = any (order_timeout.order_number_keys($1::text[], o.order_no_raw)))
   and ($2::text is null or o.user_id = $2::text)
   and ($3::text is null or o.business_line = $3::text)
   and ($4::text is null or o.created_raw >= order_timeout.shop_time($4::timestamptz, o.created_raw))
   and ($5::text is null or o.created_raw < order_timeout.shop_time($5::timestamptz, o.created_raw))
   and ($6::boolean or o.close_deadline <= now())
 order by o.close_deadline, o.id
 limit $7::bigint
