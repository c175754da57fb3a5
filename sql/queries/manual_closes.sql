-- Closes by hand that the audit log does not have yet: an operator closes with or without a running daemon.
-- Rows: run, order id (NULL where a run closed none), order_no, business_line, by whom, why, from where, when in
-- milliseconds. Index: sweep_run_to_audit.
select r.id, c.order_id::bigint, o.order_no, o.business_line, r.detail ->> 'by', r.detail ->> 'reason',
       r.detail ->> 'host', order_timeout.epoch_ms(r.started_at)
  from (select s.id, s.detail, s.started_at from order_timeout.sweep_run s
         where s.kind = 'MANUAL' and s.audited_at is null
         order by s.id
         limit 20) r
  left join lateral jsonb_array_elements_text(r.detail -> 'closed') as c (order_id) on true
  left join order_timeout.shop_order o on o.id = c.order_id::bigint
 order by r.id, o.order_no
