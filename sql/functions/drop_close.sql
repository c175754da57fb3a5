-- The functions that carry the shop's names: dropped by `migrate --drop-view` alone.
drop function if exists order_timeout.close_orders(bigint[], int[]);
drop function if exists order_timeout.close_orders_by_hand(bigint[], boolean, text, text);
drop function if exists order_timeout.judge_and_close(bigint[], int[], boolean, boolean);
drop function if exists order_timeout.pay_order(bigint, text, numeric);
drop function if exists order_timeout.record_payment(bigint, text, numeric, text, text, text);
