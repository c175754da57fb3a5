-- Records that a sweep begins; one of its kind that never ended was interrupted. $1 kind. One row: the run's id.
-- Index: sweep_run_kind.
with interrupted as (
  update order_timeout.sweep_run r
     set status = 'INTERRUPTED', finished_at = now()
   where r.kind = $1 and r.status = 'RUNNING'
)
insert into order_timeout.sweep_run (kind) values ($1) returning id
