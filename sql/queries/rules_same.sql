-- Are the given rules those in force? $1 the rules as apply_rules() reads them. One row: same. A handful of rows.
with wanted as materialized (
  select l.key as business_line, (l.value ->> 'timeout_ms')::bigint * interval '1 millisecond' as timeout,
         (l.value ->> 'grace_ms')::bigint * interval '1 millisecond' as grace, l.value ->> 'action' as action,
         ($1::jsonb ->> 'max_age_ms')::bigint * interval '1 millisecond' as max_age
    from jsonb_each($1::jsonb -> 'lines') l
), in_force as materialized (
  select r.business_line, r.timeout, r.grace, r.action, r.max_age from order_timeout.rule r
)
select not exists (table wanted except table in_force) and not exists (table in_force except table wanted)
