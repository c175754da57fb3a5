-- Types of some columns of a table: {"name": "type", …}; a column that is not there is left out.
create or replace function order_timeout.column_types(relation text, names text[]) returns jsonb
language sql stable security definer set search_path = pg_catalog, order_timeout, pg_temp
begin atomic
  select coalesce(jsonb_object_agg(a.attname, format_type(a.atttypid, a.atttypmod)), '{}'::jsonb)
    from pg_attribute a
   where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped and a.attname = any ($2);
end;

-- Tables and columns a mapping names: {"table": {"oid": …, "columns": {"name": "type", …}}, …} from
-- {"table": ["name", …], …}.
create or replace function order_timeout.table_states(tables jsonb) returns jsonb
language sql stable security definer set search_path = pg_catalog, order_timeout, pg_temp
begin atomic
  select coalesce(jsonb_object_agg(t.key, jsonb_build_object(
           'oid', to_regclass(t.key)::oid::bigint,
           'columns', order_timeout.column_types(t.key, array(select jsonb_array_elements_text(t.value))))),
         '{}'::jsonb)
    from jsonb_each($1) t;
end;

-- What of a table's columns is not as it was: "column amount of "public"."t_order" was bigint, is text".
create or replace function order_timeout.column_changes(relation text, was jsonb, is_now jsonb) returns text
language sql immutable set search_path = pg_catalog, order_timeout, pg_temp
begin atomic
  select string_agg('column ' || w.key || ' of ' || $1 || ' was ' || w.value || ', is '
                    || coalesce($3 ->> w.key, 'gone'), '; ' order by w.key)
    from jsonb_each_text($2) w
   where w.value is distinct from $3 ->> w.key;
end;

-- Likewise of tables beside it: {"table": {"oid": …, "columns": {…}}, …}.
create or replace function order_timeout.table_changes(was jsonb, is_now jsonb) returns text
language sql immutable set search_path = pg_catalog, order_timeout, pg_temp
begin atomic
  select string_agg(
           case when $2 -> w.key ->> 'oid' is null then 'the table ' || w.key || ' does not exist'
                when $2 -> w.key -> 'oid' <> w.value -> 'oid'
                  then 'the table ' || w.key || ' is not the one the views were made for'
                else order_timeout.column_changes(w.key, w.value -> 'columns', $2 -> w.key -> 'columns') end,
           '; ' order by w.key)
    from jsonb_each($1) w
   where w.value is distinct from $2 -> w.key;
end;

-- Were our objects made for this mapping, and are the shop's tables still the ones they were made for?
create or replace function order_timeout.mapping_state(mapping text)
returns table (fits boolean, detail text)
language plpgsql stable security definer set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
declare
  remedy constant text := '; run order-timeoutctl migrate';
  made order_timeout.shop_mapping;
  types jsonb;
  others jsonb;
begin
  select m.* into made from order_timeout.shop_mapping m;
  types := order_timeout.column_types(made.table_name, array(select jsonb_object_keys(made.columns)));
  others := order_timeout.table_states(coalesce(
    (select jsonb_object_agg(t.key, (select jsonb_agg(c.key) from jsonb_each(t.value -> 'columns') c))
       from jsonb_each(made.other_tables) t), '{}'::jsonb));
  detail := case
    when made.mapping is null then 'no mapping is recorded'
    when to_regclass('order_timeout.shop_order') is null then 'the view order_timeout.shop_order is dropped'
    when made.mapping <> mapping_state.mapping then 'the database objects were made for another order_table section'
    when to_regclass(made.table_name) is null then 'the table ' || made.table_name || ' does not exist'
    when to_regclass(made.table_name)::oid <> made.table_oid
      then 'the table ' || made.table_name || ' is not the one the views were made for'
    when types <> made.columns
      then order_timeout.column_changes(made.table_name, made.columns, types)
    when others <> made.other_tables
      then order_timeout.table_changes(made.other_tables, others)
  end || remedy;
  fits := detail is null;
  return next;
end
{{tag}};
