// The database's time as the loop knows it: the monotonic clock plus the last measured offset. For
// waiting and display; what is closed is decided by the database's own now().
#pragma once

#include <chrono>
#include <optional>

#include "order_timeout/clock_estimate.hpp"
#include "order_timeout/time.hpp"

namespace order_timeout::daemon {

class LoopClock {
 public:
  static Monotonic monotonic() {
    return std::chrono::duration_cast<Monotonic>(
        std::chrono::steady_clock::now().time_since_epoch());
  }
  // This host's clock, to compare others with.
  static Instant host() {
    return Instant{
        std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
  }

  std::optional<ClockJump> add(const DatabaseTimeSample& sample) { return estimate_.add(sample); }
  bool known() const { return estimate_.known(); }
  // Never ahead of the database, as far as the last samples tell. Before the first one: kAlways.
  Instant now() const { return estimate_.now(monotonic()); }
  // How far this host's clock is ahead of the database's.
  Duration skew() const { return estimate_.skew(host(), monotonic()); }
  Duration uncertainty() const { return estimate_.uncertainty(); }

 private:
  ClockEstimate estimate_;
};

}  // namespace order_timeout::daemon
