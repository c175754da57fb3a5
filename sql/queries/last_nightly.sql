-- When the last nightly sweep that succeeded began, in milliseconds; NULL where there was none. Index: sweep_run_kind.
select order_timeout.epoch_ms(max(r.started_at))
  from order_timeout.sweep_run r
 where r.kind = 'NIGHTLY' and r.status = 'SUCCESS'
