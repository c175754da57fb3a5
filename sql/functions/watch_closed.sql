-- Looks after orders that we closed: a payment that came later gets its one REFUND event under its own id, the one that
-- pay_order() would use; where nothing but a status, paid_at or a payment without id says paid, a notice and no refund;
-- an order that the shop has set back to pending or to paid is an illegal move, said once. A payment for an order that
-- was set back to pending first is the shop's own affair: a notice, no refund. Returns how many orders it touched.
create or replace function order_timeout.watch_closed(ids bigint[]) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, order_timeout, pg_temp
as {{tag}}
#variable_conflict use_column
declare
  locked_ids bigint[];
  late record;
  payment record;
  touched bigint := 0;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'closed orders are watched in READ COMMITTED only, not in %',
      current_setting('transaction_isolation') using errcode = 'invalid_transaction_state';
  end if;

  -- Nearly always nothing. What somebody holds is looked at the next time.
  locked_ids := array(
    select s.id::bigint from order_timeout.shop_order s
     where s.id = any (ids)
       and ((s.pending or s.paid)
              and not exists (select from order_timeout.notice n
                               where n.notice_key in ('illegal_move:' || s.id || ':pending',
                                                      'illegal_move:' || s.id || case when s.paid then ':paid' end))
            or s.paid_at is not null
              and not exists (select from order_timeout.payment p where p.order_id = s.id)
              and not exists (select from order_timeout.shop_payment m where m.order_id = s.id and m.paid)
              and not exists (select from order_timeout.notice n
                               where n.notice_key = 'paid_after_close:' || s.id || ':')
            or exists (select from order_timeout.shop_payment m
                        where m.order_id = s.id and m.paid
                          and not exists (select from order_timeout.payment p
                                           where p.payment_id = m.payment_id and p.order_id = s.id)
                          and not exists (select from order_timeout.notice n
                                           where n.notice_key = 'paid_after_close:' || s.id || ':'
                                                                || coalesce(m.payment_id, ''))))
     order by s.id for no key update skip locked);

  for late in
    select s.id::bigint as order_id, s.status, s.pending, s.closed, s.paid, s.paid_at,
           s.pending or exists (select from order_timeout.quarantine q
                                 where q.order_id = s.id and q.reason = 'reopened')
             or exists (select from order_timeout.notice n
                         where n.notice_key = 'illegal_move:' || s.id || ':pending') as reopened
      from order_timeout.shop_order s
     where s.id = any (locked_ids)
       and (exists (select from order_timeout.outbox e where e.order_id = s.id and e.event_type <> 'REFUND')
            or exists (select from order_timeout.closed_order c where c.order_id = s.id))
     order by s.id
  loop
    touched := touched + 1;
    if late.pending or late.paid and not late.reopened then
      insert into order_timeout.notice (order_id, kind, notice_key, "by", reason, detail)
      values (late.order_id, 'illegal_move', 'illegal_move:' || late.order_id || case when late.paid then ':paid' else ':pending' end, 'watcher',
              'a closed order is ' || late.status || ' again', jsonb_build_object('status', late.status))
      on conflict (notice_key) do nothing;
    end if;
    for payment in
      select m.payment_id, m.amount,
             (late.closed or late.paid) and not late.reopened and length(m.payment_id) between 1 and 200
               and not exists (select from order_timeout.payment p
                                where p.payment_id = m.payment_id) as refundable
        from order_timeout.shop_payment m
       where m.order_id = late.order_id and m.paid
         and not exists (select from order_timeout.payment p
                          where p.payment_id = m.payment_id and p.order_id = late.order_id)
       order by m.payment_id
    loop
      if payment.refundable then
        perform order_timeout.record_payment(late.order_id, payment.payment_id, payment.amount, 'REFUND',
                                             'paid after the close', 'watcher');
      else
        insert into order_timeout.notice (order_id, kind, notice_key, "by", reason, detail)
        values (late.order_id, 'paid_after_close',
                'paid_after_close:' || late.order_id || ':' || coalesce(payment.payment_id, ''), 'watcher',
                'a payment that is not refunded: a person has to look',
                jsonb_build_object('payment_id', payment.payment_id, 'amount', payment.amount,
                                   'status', late.status))
        on conflict (notice_key) do nothing;
      end if;
    end loop;
    if (late.paid or late.paid_at is not null)
       and not exists (select from order_timeout.payment p where p.order_id = late.order_id)
       and not exists (select from order_timeout.shop_payment m
                        where m.order_id = late.order_id and m.paid) then
      insert into order_timeout.notice (order_id, kind, notice_key, "by", reason, detail)
      values (late.order_id, 'paid_after_close', 'paid_after_close:' || late.order_id || ':', 'watcher',
              'no payment is recorded, so nothing is refunded: a person has to look',
              jsonb_build_object('status', late.status, 'paid_at', order_timeout.rfc3339(late.paid_at)))
      on conflict (notice_key) do nothing;
    end if;
  end loop;
  return touched;
end
{{tag}};
