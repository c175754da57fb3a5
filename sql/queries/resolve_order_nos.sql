-- The orders that these order numbers name, pending ones first.
-- $1 order numbers. Rows: order_no, pending, id, due in milliseconds, version, may be closed some day.
-- Index: the shop's on order_no. Where that column is bigint, whatever is no bigint names no order.
with keys as materialized (
  select case when (select a.atttypid = 'bigint'::regtype from pg_attribute a
                     where a.attrelid = 'order_timeout.shop_order'::regclass and a.attname = 'order_no_raw')
              then array(select k from unnest($1::text[]) k
                          where case when k ~ '^[0-9]{1,19}$' then k::numeric <= 9223372036854775807 end)
              else $1::text[] end as numbers
)
select o.order_no, o.pending, o.id, order_timeout.epoch_ms(o.close_deadline), o.version,
       o.action is not null and o.action <> 'ignore'
  from order_timeout.timed_order o
 where o.order_no_raw = any (order_timeout.order_number_keys((select k.numbers from keys k), o.order_no_raw))
 order by o.pending desc, o.id
