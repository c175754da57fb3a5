-- What an operator should know of the database before it hurts: one row a finding.
-- $1 the order table's quoted name, $2 and $3 its created_at and order_no columns as mapped, $4 the payments table's
-- quoted name ('' for none), $5 its order_id column, $6 the orders' own deadline column ('' for none).
-- Rows: level (ok, warn, fail), topic, text. Index: the catalogue's.
with shop as (
  select to_regclass($1) as orders, to_regclass(nullif($4, '')) as payments
), finding (place, level, topic, text) as (
  select 1, case when exists (
           select from shop s join pg_index i on i.indrelid = s.orders
             join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
            where i.indisvalid and a.attname = $2) then 'ok' else 'fail' end,
         'index', format('on %s of %s, where pending; if missing: CREATE INDEX CONCURRENTLY ON %s (%I) WHERE <status is pending>',
                         $2, $1, $1, $2)
  union all
  select 2, case when exists (
           select from shop s join pg_index i on i.indrelid = s.orders
             join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
            where i.indisvalid and a.attname = $3) then 'ok' else 'warn' end,
         'index', format('on %s of %s: reminders, timeout_task and close --order-no look orders up by it', $3, $1)
  union all
  select 2, case when exists (
           select from shop s join pg_index i on i.indrelid = s.orders
             join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
            where i.indisvalid and a.attname = $6) then 'ok' else 'warn' end,
         'index', format('on %s of %s, where pending: a deadline that is brought forward is seen at once, without it by '
                         'the next catch-up: CREATE INDEX CONCURRENTLY ON %s (%I) WHERE <status is pending>',
                         $6, $1, $1, $6)
   where $6 <> ''
  union all
  select 3, case when has_function_privilege('order_timeout.close_orders(bigint[], int[])', 'execute')
                  and has_table_privilege('order_timeout.shop_order', 'select') then 'ok' else 'fail' end,
         'privileges', format('%I may read the view and execute close_orders', current_user)
  union all
  select 4, case when (select r.rolsuper from pg_roles r where r.rolname = current_user) then 'warn' else 'ok' end,
         'privileges', format('%I is no superuser', current_user)
  union all
  select 5, case when has_any_column_privilege(s.orders, 'update') then 'warn' else 'ok' end,
         'privileges', format('%I cannot update %s by itself', current_user, $1)
    from shop s where s.orders is not null
  union all
  select 6, case when has_function_privilege('order_timeout.close_orders_by_hand(bigint[], boolean, text, text)', 'execute')
                 then 'warn' else 'ok' end,
         'privileges', format('%I cannot close by hand (that is order_timeout_operator''s)', current_user)
  union all
  select 7, case when order_timeout.oldest_transaction_start() is null then 'warn' else 'ok' end,
         'discovery', 'sees the oldest running transaction; if not: GRANT pg_read_all_stats TO order_timeout_owner'
  union all
  select 8, case when exists (select from pg_constraint c where c.conrelid = s.payments and c.confrelid = s.orders
                               and c.contype = 'f') then 'ok' else 'warn' end,
         'payments', 'have a foreign key to the orders; without it a payment that commits while its order is being closed comes too late'
    from shop s where s.payments is not null
  union all
  select 8, case when exists (
           select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
            where i.indrelid = s.payments and i.indisvalid and a.attname = $5) then 'ok' else 'warn' end,
         'index', format('on %s of %s: every close looks for payments by it', $5, $4)
    from shop s where s.payments is not null
  union all
  select 9, case when current_setting('default_transaction_read_only') = 'on' or pg_is_in_recovery() then 'fail' else 'ok' end,
         'server', 'takes writes'
  union all
  select 10, case when exists (select from order_timeout.rule) then 'ok' else 'warn' end,
         'rules', 'are in force (the daemon writes them at its first start)'
)
select f.level, f.topic, f.text from finding f order by f.place
