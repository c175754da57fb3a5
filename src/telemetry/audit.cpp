#include "telemetry/audit.hpp"

#include <utility>

namespace order_timeout::telemetry {
namespace {

bool is_asked_again_soon(CloseOutcome outcome) {
  return outcome == CloseOutcome::not_due || outcome == CloseOutcome::locked ||
         outcome == CloseOutcome::version_moved || outcome == CloseOutcome::payment_in_progress;
}

Fields fields_of(const CloseResult& result, Source source, Instant now) {
  Fields fields;
  if (!result.order_no.empty()) fields.emplace_back("order_no", result.order_no);
  fields.emplace_back("order_id", result.id);
  if (!result.business_line.empty()) fields.emplace_back("business_line", result.business_line);
  if (result.due) {
    fields.emplace_back("due", *result.due);
    if (result.outcome == CloseOutcome::closed) {
      fields.emplace_back("late_ms", saturating_sub(now, *result.due).count());
    }
  }
  fields.emplace_back("source", to_string(source));
  if (!result.detail.empty()) fields.emplace_back("detail", result.detail);
  if (result.retry_at) fields.emplace_back("retry_at", *result.retry_at);
  return fields;
}

Fields fields_of(const OutboxEvent& event) {
  return {{"event_key", event.event_key},
          {"event_type", event.event_type},
          {"order_no", event.order_no},
          {"order_id", event.order_id},
          {"attempts", event.attempt}};
}

}  // namespace

void Audit::decided(const CloseResult& result, Source source, Instant now) {
  if (is_asked_again_soon(result.outcome)) return;
  if (result.outcome == CloseOutcome::closed) {
    memory_.forget(result.id);
  } else if (result.outcome != CloseOutcome::failed &&
             !memory_.changed(result.id, result.outcome)) {
    return;
  }
  log_.audit("close", to_string(result.outcome), fields_of(result, source, now));
}

void Audit::quarantined(OrderId id, const Failure& failure, Instant retry_at) {
  Fields fields{{"order_id", id}, {"kind", to_string(failure.kind)}};
  if (!failure.sqlstate.empty()) fields.emplace_back("sqlstate", failure.sqlstate);
  fields.emplace_back("error", failure.detail);
  fields.emplace_back("retry_at", retry_at);
  log_.audit("quarantine", to_string(CloseOutcome::failed), std::move(fields));
}

void Audit::delivered(const OutboxEvent& event, const DeliveryOutcome& outcome, EventStatus status,
                      Instant now) {
  Fields fields = fields_of(event);
  if (status == EventStatus::success) {
    fields.emplace_back("result", to_string(outcome.kind));
    fields.emplace_back("after_due_ms", saturating_sub(now, event.due).count());
    log_.audit("event", "released", std::move(fields));
  } else if (status == EventStatus::dead) {
    fields.emplace_back("error", outcome.detail);
    log_.audit("event", "dead", fields);
    log_.error("event", "dead", std::move(fields));
  } else {
    fields.emplace_back("result", to_string(outcome.kind));
    fields.emplace_back("error", outcome.detail);
    log_.debug("event", "tried again later", std::move(fields));
  }
}

void Audit::closed_by_hand(const ManualClose& close) {
  log_.audit("close", to_string(CloseOutcome::closed),
             {{"order_no", close.order_no},
              {"order_id", close.order_id},
              {"business_line", close.business_line},
              {"source", to_string(Source::manual)},
              {"by", close.by},
              {"reason", close.reason},
              {"host", close.host},
              {"at", close.at}});
}

}  // namespace order_timeout::telemetry
