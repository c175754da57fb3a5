-- Writes the business lines whole, in one transaction:
-- {"max_age_ms":…, "payment_max_delay_ms":…, "lines":{"default":{"timeout_ms":…,"grace_ms":…,"action":"close",
--  "on_close":["RELEASE_STOCK"]},…}}. The same rules as in force keep their revision and nothing is written; NULL asks
-- for the next revision. Returns the revision in force. Intervals hold seconds only: a day may have 23 hours.
create or replace function order_timeout.apply_rules(revision bigint, rules jsonb) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
#variable_conflict use_column
declare
  wanted order_timeout.rule[];
  in_force bigint;
  next_revision bigint;
begin
  lock table order_timeout.rule in share row exclusive mode;
  in_force := (select max(r.revision) from order_timeout.rule r);
  next_revision := coalesce(apply_rules.revision, coalesce(in_force, 0) + 1);
  wanted := array(
    select row(l.key, (l.value ->> 'timeout_ms')::bigint * interval '1 millisecond',
               (l.value ->> 'grace_ms')::bigint * interval '1 millisecond', l.value ->> 'action',
               array(select distinct e from jsonb_array_elements_text(l.value -> 'on_close') e order by e),
               next_revision, (rules ->> 'max_age_ms')::bigint * interval '1 millisecond',
               coalesce((rules ->> 'payment_max_delay_ms')::bigint, 600000) * interval '1 millisecond'
              )::order_timeout.rule
      from jsonb_each(rules -> 'lines') l);
  if in_force is not null and not exists (
       (select w.business_line, w.timeout, w.grace, w.action, w.on_close, w.max_age, w.payment_max_delay
          from unnest(wanted) w
        except all
        select r.business_line, r.timeout, r.grace, r.action, r.on_close, r.max_age, r.payment_max_delay
          from order_timeout.rule r))
     and cardinality(wanted) = (select count(*) from order_timeout.rule) then
    return in_force;
  end if;
  if next_revision <= in_force then
    raise exception 'revision % of the rules is not after revision %, which is in force', next_revision, in_force
      using errcode = 'invalid_parameter_value';
  end if;
  delete from order_timeout.rule;
  insert into order_timeout.rule select w.* from unnest(wanted) w;
  return next_revision;
end
{{tag}};
