-- How many orders wait, and why some will not be closed. One row: pending, held, in quarantine, too old, overdue (past
-- deadline and grace, not too old, with a rule that closes), seconds since the oldest of those was due, of a business
-- line that is not listed where there is no `default`.
-- Index: the shop's on created_at where pending.
select count(*),
       (select count(*) from order_timeout.hold),
       (select count(*) from order_timeout.quarantine),
       count(*) filter (where p.listed and p.too_old),
       count(*) filter (where p.listed and p.due and not p.too_old),
       coalesce(extract(epoch from now() - min(p.close_deadline)
                          filter (where p.listed and p.due and not p.too_old and isfinite(p.close_deadline))),
                0)::float8,
       count(*) filter (where p.listed is null)
  from (select o.close_deadline, o.action <> 'ignore' as listed, o.close_deadline <= now() as due,
               coalesce(now() > o.close_deadline + o.max_age, false) as too_old
          from order_timeout.timed_order o
         where o.pending) p
