-- What an order holds, for its events: no rows where order_table.items is not mapped.
create view order_timeout.shop_item as
select {{item_order_id}} as order_id, {{item_object}} as item
  from {{item_source}};
