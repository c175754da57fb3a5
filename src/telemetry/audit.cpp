#include "telemetry/audit.hpp"

#include <boost/json.hpp>
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

// What the shop's people did on purpose.
bool is_of_the_order(const std::string& kind) {
  return kind == "extended" || kind == "held" || kind == "unheld";
}

void add_details(Fields& fields, const std::string& text) {
  boost::system::error_code error;
  const boost::json::value detail = boost::json::parse(text, error);
  if (error || !detail.is_object()) return;
  for (const auto& [key, value] : detail.as_object()) {
    if (value.is_null()) continue;
    const std::string plain =
        value.is_string() ? std::string(value.as_string()) : boost::json::serialize(value);
    fields.emplace_back(std::string(key), plain);
  }
}

Fields fields_of(const Notice& notice) {
  Fields fields;
  if (!notice.order_no.empty()) fields.emplace_back("order_no", notice.order_no);
  fields.emplace_back("order_id", notice.order_id);
  if (!notice.business_line.empty()) fields.emplace_back("business_line", notice.business_line);
  fields.emplace_back("by", notice.by);
  if (!notice.reason.empty()) fields.emplace_back("reason", notice.reason);
  fields.emplace_back("host", notice.host);
  fields.emplace_back("at", notice.at);
  add_details(fields, notice.detail_json);
  return fields;
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

void Audit::noticed(const Notice& notice) {
  const bool of_the_order = is_of_the_order(notice.kind);
  Fields fields = fields_of(notice);
  log_.audit(of_the_order ? "order" : "payment", notice.kind, fields);
  if (of_the_order) return;
  const bool settled = notice.kind == "refund" || notice.kind == "amount_differs";
  log_.write(settled ? Level::warn : Level::error, "payment", notice.kind, std::move(fields));
}

}  // namespace order_timeout::telemetry
