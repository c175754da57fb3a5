#include "telemetry/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "telemetry/line.hpp"

namespace order_timeout::telemetry {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

constexpr std::size_t kLabelValuesMax = 100;
constexpr std::size_t kLabelBytesMax = 64;

// 1 ms to 1 h.
Histogram::BucketBoundaries lateness_buckets() {
  return {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5,   1,
          2,     5,     10,    30,   60,   120,  300, 600, 1'800, 3'600};
}

Histogram::BucketBoundaries call_buckets() {
  return {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};
}

// Foreign text as label values: the first hundred different ones are kept, printable, the rest are
// one.
class LabelValues {
 public:
  std::string of(std::string_view text) {
    if (text.empty()) return "none";
    std::string value = printable(text, kLabelBytesMax);
    if (known_.contains(value)) return value;
    if (known_.size() >= kLabelValuesMax) return "other";
    known_.insert(value);
    return value;
  }

 private:
  std::set<std::string> known_;
};

struct Named {
  std::string name, help;
};

template <class Builder>
auto& made(Builder builder, prometheus::Registry& registry, const Named& named) {
  return builder.Name("order_timeout_" + named.name).Help(named.help).Register(registry);
}

Family<Counter>& counters(prometheus::Registry& registry, const Named& named) {
  return made(prometheus::BuildCounter(), registry, named);
}

Family<Gauge>& gauges(prometheus::Registry& registry, const Named& named) {
  return made(prometheus::BuildGauge(), registry, named);
}

Family<Histogram>& histograms(prometheus::Registry& registry, const Named& named) {
  return made(prometheus::BuildHistogram(), registry, named);
}

double number(bool yes) { return yes ? 1.0 : 0.0; }

std::uint64_t& total_of(Totals& totals, CloseOutcome outcome) {
  const std::string_view decision = decision_of(outcome);
  if (decision == "closed") return totals.closed;
  if (decision == "skipped") return totals.skipped;
  if (decision == "held") return totals.held;
  if (decision == "deferred") return totals.deferred;
  if (decision == "reviewed") return totals.reviewed;
  if (decision == "shadowed") return totals.shadowed;
  return totals.failed;
}

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  Gauge& pending = gauges(registry, {"pending_orders", "Orders in the wheel."}).Add({});
  Gauge& overdue =
      gauges(registry, {"overdue_orders", "Pending orders past their deadline and grace."}).Add({});
  Gauge& oldest_overdue =
      gauges(registry, {"oldest_overdue_seconds", "How long the oldest of them is overdue."})
          .Add({});
  Family<Counter>& closed = counters(registry, {"closed_total", "Orders closed."});
  Family<Counter>& decisions =
      counters(registry, {"decisions_total", "Answers about orders that were to be closed."});
  Histogram& lateness =
      histograms(registry, {"close_lateness_seconds", "From deadline and grace to the close."})
          .Add({}, lateness_buckets());
  Histogram& due_to_released =
      histograms(registry,
                 {"due_to_released_seconds", "From deadline and grace to the event delivered."})
          .Add({}, lateness_buckets());
  Histogram& batch = histograms(registry, {"close_batch_seconds", "One close transaction."})
                         .Add({}, call_buckets());
  Family<Gauge>& outbox =
      gauges(registry, {"outbox_events", "Events not finished well, by state."});
  Gauge& oldest_claimable =
      gauges(registry, {"outbox_oldest_claimable_seconds",
                        "How long the oldest event that may be tried now waits."})
          .Add({});
  Family<Counter>& sink_requests =
      counters(registry, {"sink_requests_total", "Attempts to deliver an event."});
  Family<Histogram>& sink_seconds =
      histograms(registry, {"sink_seconds", "One attempt to deliver an event."});
  Family<Gauge>& breaker = gauges(
      registry, {"sink_breaker_open", "1 while no event is sent to a sink that keeps failing."});
  Family<Gauge>& component = gauges(registry, {"component_up", "1 while the component answers."});
  Family<Gauge>& clock_skew = gauges(
      registry, {"clock_skew_seconds", "Difference to this host's clock, positive where ahead."});
  Gauge& rebuild =
      gauges(registry, {"rebuild_seconds", "How long the rebuild at start took."}).Add({});
  Family<Gauge>& paused = gauges(registry, {"paused", "1 while closing or delivering is paused."});
  Family<Counter>& guards =
      counters(registry, {"guard_tripped_total", "Guards that stopped closing."});
  Family<Counter>& reloads =
      counters(registry, {"config_reloads_total", "Reloads of the configuration."});
  Gauge& wheel_bytes = gauges(registry, {"wheel_bytes", "Memory of the wheel."}).Add({});
  LabelValues lines, events, results, components, scopes, guard_names, clocks;
  std::map<std::pair<std::string, std::string>, Gauge*> outbox_gauges;
};

std::string_view decision_of(CloseOutcome outcome) {
  switch (outcome) {
    case CloseOutcome::closed:
      return "closed";
    case CloseOutcome::already_paid:
    case CloseOutcome::already_closed:
    case CloseOutcome::other_status:
    case CloseOutcome::missing:
    case CloseOutcome::ignored:
    case CloseOutcome::not_listed:
    case CloseOutcome::too_old:
      return "skipped";
    case CloseOutcome::held:
    case CloseOutcome::payment_evidence:
    case CloseOutcome::reopened:
      return "held";
    case CloseOutcome::not_due:
    case CloseOutcome::locked:
    case CloseOutcome::version_moved:
    case CloseOutcome::payment_in_progress:
    case CloseOutcome::payment_unknown:
    case CloseOutcome::paused:
      return "deferred";
    case CloseOutcome::for_review:
      return "reviewed";
    case CloseOutcome::shadowed:
      return "shadowed";
    case CloseOutcome::failed:
      break;
  }
  return "failed";
}

// What can be named beforehand is there from the start, at 0, so that rates begin with the first
// event.
Metrics::Metrics() : families_(std::make_unique<Families>()) {
  for (int i = 0; i <= static_cast<int>(CloseOutcome::failed); ++i) {
    const auto outcome = static_cast<CloseOutcome>(i);
    families_->decisions.Add({{"decision", std::string{decision_of(outcome)}},
                              {"reason", std::string{to_string(outcome)}}});
  }
  for (const char* result : {"ok", "error", "refused"})
    families_->reloads.Add({{"result", result}});
}

Metrics::~Metrics() = default;

void Metrics::set_pending(std::int64_t orders) {
  families_->pending.Set(static_cast<double>(orders));
}

void Metrics::set_overdue(std::int64_t orders, double oldest_seconds) {
  families_->overdue.Set(static_cast<double>(orders));
  families_->oldest_overdue.Set(oldest_seconds);
}

void Metrics::set_wheel_bytes(std::uint64_t bytes) {
  families_->wheel_bytes.Set(static_cast<double>(bytes));
}

void Metrics::set_rebuild_seconds(double seconds) { families_->rebuild.Set(seconds); }

void Metrics::decided(CloseOutcome outcome, std::string_view business_line, Source source,
                      std::int64_t late_ms) {
  ++total_of(totals_, outcome);
  families_->decisions
      .Add({{"decision", std::string{decision_of(outcome)}},
            {"reason", std::string{to_string(outcome)}}})
      .Increment();
  if (outcome != CloseOutcome::closed) return;
  families_->closed
      .Add({{"business_line", families_->lines.of(business_line)},
            {"source", std::string{to_string(source)}}})
      .Increment();
  families_->lateness.Observe(static_cast<double>(std::max<std::int64_t>(late_ms, 0)) / 1'000);
  lateness_lately_.record(late_ms);
  lateness_.record(late_ms);
}

// Not in the lateness: a person decides when.
void Metrics::closed_by_hand(std::string_view business_line) {
  families_->closed
      .Add({{"business_line", families_->lines.of(business_line)},
            {"source", std::string{to_string(Source::manual)}}})
      .Increment();
}

void Metrics::close_batch(double seconds) { families_->batch.Observe(seconds); }

void Metrics::released(double due_to_released_seconds) {
  ++totals_.released;
  families_->due_to_released.Observe(due_to_released_seconds);
}

void Metrics::set_outbox(const std::vector<EventCount>& counts) {
  for (auto& [labels, gauge] : families_->outbox_gauges) gauge->Set(0);
  for (const EventCount& count : counts) {
    std::pair<std::string, std::string> labels{families_->events.of(count.event_type),
                                               families_->results.of(count.status)};
    Gauge& gauge = families_->outbox.Add({{"event_type", labels.first}, {"status", labels.second}});
    gauge.Increment(static_cast<double>(count.count));
    families_->outbox_gauges.insert_or_assign(std::move(labels), &gauge);
  }
}

void Metrics::set_oldest_claimable(double seconds) { families_->oldest_claimable.Set(seconds); }

void Metrics::sink_request(std::string_view event, std::string_view result, double seconds) {
  const std::string name = families_->events.of(event);
  families_->sink_requests.Add({{"event", name}, {"result", families_->results.of(result)}})
      .Increment();
  families_->sink_seconds.Add({{"event", name}}, call_buckets()).Observe(seconds);
  families_->breaker.Add({{"event", name}}).Set(0);
}

void Metrics::set_component(std::string_view component, bool up) {
  families_->component.Add({{"component", families_->components.of(component)}}).Set(number(up));
}

void Metrics::set_clock_skew(std::string_view source, double seconds) {
  families_->clock_skew.Add({{"source", families_->clocks.of(source)}}).Set(seconds);
}

void Metrics::set_paused(std::string_view scope, bool paused) {
  families_->paused.Add({{"scope", families_->scopes.of(scope)}}).Set(number(paused));
}

void Metrics::guard_tripped(std::string_view guard) {
  families_->guards.Add({{"guard", families_->guard_names.of(guard)}}).Increment();
}

void Metrics::config_reload(std::string_view result) {
  families_->reloads.Add({{"result", families_->results.of(result)}}).Increment();
}

std::string Metrics::scrape() const {
  return prometheus::TextSerializer{}.Serialize(families_->registry.Collect());
}

LatenessSummary Metrics::take_lateness() {
  return std::exchange(lateness_lately_, LatenessHistogram{}).summary();
}

LatenessSummary Metrics::lateness_since_start() const { return lateness_.summary(); }

Totals Metrics::totals() const { return totals_; }

}  // namespace order_timeout::telemetry
