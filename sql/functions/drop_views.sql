-- Views follow the shop's columns, and CREATE OR REPLACE cannot change a column: made anew each time.
drop view if exists order_timeout.order_deadline, order_timeout.timed_order, order_timeout.shop_order,
                    order_timeout.shop_item, order_timeout.shop_payment;
