-- Gives a pending order another pay deadline, later or sooner; false where it does not wait for payment any more.
-- Executable by the owner only.
create or replace function order_timeout.set_deadline(order_id bigint, deadline timestamptz, "by" text, reason text)
returns boolean
language plpgsql volatile set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
#variable_conflict use_column
declare
  placed record;
begin
  select s.pending into placed from order_timeout.shop_order s
   where s.id = set_deadline.order_id for no key update;
  if not found then
    raise exception 'there is no order %', set_deadline.order_id using errcode = 'no_data_found';
  end if;
  if placed.pending is not true then
    return false;
  end if;
  insert into order_timeout.notice (order_id, kind, "by", reason, detail)
  select t.id, 'extended', set_deadline."by", set_deadline.reason,
         jsonb_build_object('was', order_timeout.rfc3339(t.pay_deadline), 'deadline_from', t.deadline_from,
                            'deadline', order_timeout.rfc3339(set_deadline.deadline))
    from order_timeout.timed_order t where t.id = set_deadline.order_id;
  insert into order_timeout.deadline_override (order_id, deadline, reason)
  values (set_deadline.order_id, set_deadline.deadline, set_deadline.reason)
  on conflict (order_id) do update
     set deadline = excluded.deadline, reason = excluded.reason, created_at = excluded.created_at;
  return true;
end
{{tag}};
