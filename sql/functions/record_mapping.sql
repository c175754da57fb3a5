-- What the views were just made from; mapping_state() compares with it.
insert into order_timeout.shop_mapping (only_row, mapping, table_name, table_oid, columns, other_tables)
values (true, {{mapping}}, {{order_table_text}}, {{order_table_text}}::regclass,
        order_timeout.column_types({{order_table_text}}, {{order_column_names}}),
        order_timeout.table_states({{other_tables}}))
on conflict (only_row) do update
   set mapping = excluded.mapping, table_name = excluded.table_name, table_oid = excluded.table_oid,
       columns = excluded.columns, other_tables = excluded.other_tables, recorded_at = now()
 where (shop_mapping.mapping, shop_mapping.table_name, shop_mapping.table_oid, shop_mapping.columns,
        shop_mapping.other_tables)
       is distinct from (excluded.mapping, excluded.table_name, excluded.table_oid, excluded.columns,
                         excluded.other_tables);
