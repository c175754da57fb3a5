-- What rests now, at most 100 scopes. Rows: scope.
select p.scope
  from order_timeout.pause p
 where p.until is null or p.until > now()
 order by p.scope
 limit 100
