// audit.log: what was decided about each order and how each event ended, one line each, with the
// words of CloseOutcome as reason codes.
#pragma once

#include "order_timeout/order.hpp"
#include "order_timeout/outcome.hpp"
#include "ports.hpp"
#include "telemetry/decision_memory.hpp"
#include "telemetry/log.hpp"

namespace order_timeout::telemetry {

// On the loop thread only.
class Audit {
 public:
  explicit Audit(Log& log) : log_(log) {}

  // "close: closed order_no=… order_id=… business_line=… due=… late_ms=3 source=wheel". Decisions
  // that only mean "ask again soon" (not_due, locked, version_moved, payment_in_progress) have no
  // line; every close and every failure has one; the others have one when an order's decision
  // changes, not each time it is confirmed.
  void decided(const CloseResult& result, Source source, Instant now);
  // "quarantine: failed order_id=… sqlstate=… error=… retry_at=…": an order whose close fails by
  // itself.
  void quarantined(OrderId id, const Failure& failure, Instant retry_at);
  // "close: closed order_no=… source=manual by=… reason=… host=…": closed by an operator.
  void closed_by_hand(const ManualClose& close);
  // "order: held order_no=… order_id=… by=… reason=… host=… at=…": extended, held, unheld; and of
  // payments "payment: refund order_no=… payment_id=… amount=…": what a person has to look at is a
  // line in the main log as well.
  void noticed(const Notice& notice);
  // "event: released event_key=…" for a success, "event: dead event_key=… attempts=… error=…" for a
  // dead letter, which is an ERROR in the main log as well; an event that is tried again is a debug
  // line there.
  void delivered(const OutboxEvent& event, const DeliveryOutcome& outcome, EventStatus status,
                 Instant now);

 private:
  Log& log_;
  DecisionMemory memory_{100'000};
};

}  // namespace order_timeout::telemetry
