-- Business lines of pending orders that the rules do not list, the most frequent 50. Rows: the line as it stands in the
-- order, in quotes, or NULL; orders. Index: the shop's on created_at where pending.
select coalesce('"' || o.business_line || '"', 'NULL'), count(*)
  from order_timeout.shop_order o
 where o.pending
   and not exists (select from order_timeout.rule r where r.business_line = o.business_line)
 group by o.business_line
 order by count(*) desc, o.business_line
 limit 50
