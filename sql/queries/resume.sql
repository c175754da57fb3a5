-- Ends what rests. $1 scope. One row where it rested: scope, by whom, why.
delete from order_timeout.pause p where p.scope = $1
returning p.scope, p."by", p.reason
