-- Lets something rest. $1 scope, $2 until when (NULL: until it is resumed), $3 by whom, $4 why. One row: scope.
insert into order_timeout.pause as p (scope, until, "by", reason) values ($1, $2::timestamptz, $3, $4)
on conflict (scope) do update set since = now(), until = excluded.until, "by" = excluded."by", reason = excluded.reason
returning p.scope
