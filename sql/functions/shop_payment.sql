-- Payments of an order: evidence and attempts in progress; no rows where order_table.payments is not mapped.
create view order_timeout.shop_payment as
select {{payment_order_id}} as order_id,
       {{payment_id}}::text as payment_id,
       {{payment_status}}::text as status,
       {{payment_amount}}::numeric as amount,
       {{payment_created_at}} as created_raw,
       coalesce({{payment_paid}}, false) as paid,
       coalesce({{payment_in_progress}}, false) as in_progress
  from {{payment_source}};
