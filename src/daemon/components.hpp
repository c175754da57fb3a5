// What we depend on, and whether it is there: one log line when it goes, one when it comes back,
// one a minute in between, and a metric.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "order_timeout/outcome.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"

namespace order_timeout::daemon {

class Components {
 public:
  Components(telemetry::Log& log, telemetry::Metrics& metrics) : log_(log), metrics_(metrics) {}

  // In the first second of an outage an answer is to a call that was under way: it ends nothing.
  void up(const std::string& name);
  // A read was answered. After a refusal of writes that proves nothing: only up() ends it.
  void reads(const std::string& name);
  // `consequence` tells the operator what goes on without it. A call that only got no answer says
  // little while others get theirs: it is a warning then, and the component stays up.
  void down(const std::string& name, const Failure& failure, const std::string& consequence);

  // Whether it answered when last asked; a component nobody has asked yet counts as down.
  bool is_up(const std::string& name) const;
  std::map<std::string, bool> states() const;

 private:
  struct State {
    bool up = false;
    bool refuses_writes = false;
    std::chrono::steady_clock::time_point since;
    std::chrono::steady_clock::time_point answered;
    std::chrono::steady_clock::time_point last_line;
  };

  telemetry::Log& log_;
  telemetry::Metrics& metrics_;
  std::map<std::string, State> states_;
};

}  // namespace order_timeout::daemon
