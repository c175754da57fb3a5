-- For the shop's countdown.
create view order_timeout.order_deadline as
select t.id::bigint as order_id, t.order_no, t.pay_deadline, t.close_deadline
  from order_timeout.timed_order t;
