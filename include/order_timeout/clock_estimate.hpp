// The database's time between two questions: what it last answered, carried on by the monotonic
// clock. Never ahead of the database, so that an order is not asked about before it is due.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include "order_timeout/time.hpp"

namespace order_timeout {

// A reading of the monotonic clock; milliseconds convert to it by themselves.
using Monotonic = std::chrono::nanoseconds;

// One question to the database and its answer.
struct DatabaseTimeSample {
  Monotonic sent{};
  Monotonic received{};
  Instant database{};  // read somewhere in between, rounded up to the millisecond
};

// Both estimates are for the moment the answer came.
struct ClockJump {
  Instant before{};
  Instant after{};
};

// A pure value: whoever holds it reads the clocks. The database's time at the moment of the answer
// is at least what the answer says, so every sample gives a lower bound of the offset between the
// two clocks, and the greatest of the last few is the best.
class ClockEstimate {
 public:
  static constexpr std::size_t kWindow = 8;  // samples that count
  static constexpr Duration kJump{1'000};    // a greater change starts anew

  // Takes a sample in. Gives the jump where the sample cannot be reconciled with the estimate by
  // more than kJump: the database's clock was set, or another database answers. An answer that
  // only took long is no jump.
  std::optional<ClockJump> add(const DatabaseTimeSample& sample);

  bool known() const { return count_ > 0; }
  // The database's time, late by at most uncertainty() plus the clocks' drift since the samples.
  // kAlways, when nothing is due, before the first sample.
  Instant now(Monotonic at) const;
  // How far a clock of ours that shows `host` at `at` is ahead of the database; 0 when unknown.
  Duration skew(Instant host, Monotonic at) const;
  // How far the estimate may be behind: the best sample's round trip and what rounding costs. 0
  // when unknown.
  Duration uncertainty() const;

 private:
  // Bounds of the true offset, database minus monotonic, by one sample.
  struct Offset {
    Duration least{};
    Duration most{};
  };

  const Offset& best() const;  // the one with the greatest least
  void forget_refuted_by(Duration most);

  std::array<Offset, kWindow> offsets_{};  // oldest first
  std::size_t count_ = 0;
};

}  // namespace order_timeout
