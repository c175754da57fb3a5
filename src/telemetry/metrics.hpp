// The figures of GET /metrics (prefix order_timeout_) and of the stats line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "order_timeout/outcome.hpp"
#include "ports.hpp"
#include "telemetry/lateness.hpp"

namespace order_timeout::telemetry {

// The `decision` label of an outcome: closed, skipped, held, deferred, reviewed, shadowed or
// failed. The `reason` is the outcome's own word.
std::string_view decision_of(CloseOutcome outcome);

// Since the start.
struct Totals {
  std::uint64_t closed = 0, skipped = 0, held = 0, deferred = 0, reviewed = 0, shadowed = 0;
  std::uint64_t failed = 0, released = 0;
};

// On the loop thread only. No label can grow without bound: of each the first 100 values are told
// apart, the rest are `other`; an empty one is `none`.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void set_pending(std::int64_t orders);
  void set_overdue(std::int64_t orders, double oldest_seconds);
  void set_wheel_bytes(std::uint64_t bytes);
  void set_rebuild_seconds(double seconds);

  // One order's answer. Lateness counts for closed ones only.
  void decided(CloseOutcome outcome, std::string_view business_line, Source source,
               std::int64_t late_ms);
  void decided(CloseOutcome outcome, std::string_view business_line, Source source, Duration late) {
    decided(outcome, business_line, source, std::int64_t{late.count()});
  }
  void closed_by_hand(std::string_view business_line);
  void close_batch(double seconds);

  // An event delivered; seconds from the order's due instant.
  void released(double due_to_released_seconds);
  // Counts that are not named are 0 from here on.
  void set_outbox(const std::vector<EventCount>& counts);
  void set_oldest_claimable(double seconds);
  void sink_request(std::string_view event, std::string_view result, double seconds);
  void sink_request(std::string_view event, DeliveryKind result, double seconds) {
    sink_request(event, to_string(result), seconds);
  }

  void set_component(std::string_view component, bool up);
  void set_clock_skew(std::string_view source, double seconds);
  void set_paused(std::string_view scope, bool paused);
  void guard_tripped(std::string_view guard);
  void config_reload(std::string_view result);  // ok | error | refused

  // Text format 0.0.4 of Prometheus.
  std::string scrape() const;

  // Of the closes since the last call, for the stats line.
  LatenessSummary take_lateness();
  LatenessSummary lateness_since_start() const;
  Totals totals() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
  LatenessHistogram lateness_lately_, lateness_;
  Totals totals_;
};

}  // namespace order_timeout::telemetry
