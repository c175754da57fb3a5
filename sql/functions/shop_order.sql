-- The shop's order table under our names, over that table alone so that FOR UPDATE works through it. The _raw columns
-- keep the shop's own type: ranges and sort orders use them, or the shop's index is lost. Of a version only the low 31
-- bits: it tells whether an order has changed since it was tracked, and some shops' versions are milliseconds.
create view order_timeout.shop_order as
select {{id}} as id,
       {{order_no}}::text as order_no,
       {{order_no}} as order_no_raw,
       {{user_id}}::text as user_id,
       {{business_line}}::text as business_line,
       {{status}}::text as status,
       {{status}} = {{status_pending}} as pending,
       {{status}} = {{status_closed}} as closed,
       {{status}} = {{status_paid}} as paid,
       order_timeout.instant({{created_at}}) as created_at,
       {{created_at}} as created_raw,
       {{version_mark}} as version,
       order_timeout.instant({{deadline}}) as deadline,
       {{deadline}} as deadline_raw,
       {{amount}}::numeric as amount,
       order_timeout.instant({{closed_at}}) as closed_at,
       order_timeout.instant({{paid_at}}) as paid_at
  from {{order_table}} as o;
