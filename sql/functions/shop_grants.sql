-- What our owner may do in the shop's tables, column by column, and nothing beside it.
revoke all on {{shop_tables}} from order_timeout_owner;
grant usage on schema {{shop_schemas}} to order_timeout_owner;
{{shop_grants}}
