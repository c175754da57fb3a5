-- Order numbers in the type of the shop's column, for `order_no_raw = any(order_number_keys($1, order_no_raw))`: only the
-- type of the second argument matters. For a bigint column every key has to be digits.
create or replace function order_timeout.order_number_keys(keys text[], column_like text)
returns text[] language sql immutable parallel safe return keys;
create or replace function order_timeout.order_number_keys(keys text[], column_like varchar)
returns varchar[] language sql immutable parallel safe return keys::varchar[];
create or replace function order_timeout.order_number_keys(keys text[], column_like bigint)
returns bigint[] language sql immutable parallel safe return keys::bigint[];
