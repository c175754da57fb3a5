-- The operator's way to change a deadline: to `until`, or where that is NULL by `longer` from the deadline as it is,
-- from now where that has passed. Returns the deadline that holds, NULL where the order does not wait any more.
create or replace function order_timeout.extend_order_by_hand(order_id bigint, until timestamptz,
                                                              longer interval, "by" text, reason text)
returns timestamptz
language plpgsql volatile security definer set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
#variable_conflict use_column
declare
  wanted timestamptz;
begin
  if btrim(coalesce(extend_order_by_hand."by", '')) = '' or btrim(coalesce(extend_order_by_hand.reason, '')) = '' then
    raise exception 'extending by hand needs a name and a reason' using errcode = 'invalid_parameter_value';
  end if;
  perform 1 from order_timeout.shop_order s where s.id = extend_order_by_hand.order_id for no key update;
  wanted := coalesce(extend_order_by_hand.until,
                     (select greatest(t.pay_deadline, now()) + extend_order_by_hand.longer
                        from order_timeout.timed_order t where t.id = extend_order_by_hand.order_id));
  if wanted is null then
    raise exception 'no deadline to extend: no such order, or no rule for its business line'
      using errcode = 'no_data_found';
  end if;
  if order_timeout.set_deadline(extend_order_by_hand.order_id, wanted, extend_order_by_hand."by",
                                extend_order_by_hand.reason) then
    return wanted;
  end if;
  return null;
end
{{tag}};
