-- What rests now. Rows: scope, by whom, why, until when in milliseconds (NULL: until it is resumed); at
-- most 100.
select p.scope, p."by", p.reason, order_timeout.epoch_ms(p.until)
  from order_timeout.pause p
 where p.until is null or p.until > now()
 order by p.scope
 limit 100
