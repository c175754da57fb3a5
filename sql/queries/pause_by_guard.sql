-- A guard stops what it guards, until somebody resumes it. $1 scope, $2 by whom, $3 why. One that rests until resumed
-- already stays as it is.
insert into order_timeout.pause as p (scope, "by", reason) values ($1, $2, $3)
on conflict (scope) do update set until = null, "by" = excluded."by", reason = excluded.reason
 where p.until is not null
