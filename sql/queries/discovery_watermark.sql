-- From where the next discovery has to read: nothing that began later can still commit an older order. Asked before
-- the orders are read. Where the owner may not see other sessions a fixed overlap stands in; one forgotten session
-- does not hold the watermark back by more than ten minutes (what it commits is the catch-up's).
-- One row: milliseconds since the epoch.
select order_timeout.epoch_ms(greatest(
         least(coalesce(order_timeout.oldest_transaction_start(), now() - interval '30 seconds'), now())
           - interval '2 seconds',
         now() - interval '10 minutes'))
