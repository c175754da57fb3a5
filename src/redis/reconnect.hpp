// When a lost connection may be tried again. Pure: takes `now`.
#pragma once

#include <algorithm>
#include <chrono>

#include "order_timeout/time.hpp"

namespace order_timeout::redis {

class Reconnect {
 public:
  using Now = std::chrono::steady_clock::time_point;

  struct Options {
    Duration first{200};
    Duration cap{5'000};
    double jitter = 0.2;  // at most this share is added
  };

  explicit Reconnect(Options options) : options_(options), wait_(options.first) {}

  // `fraction` in [0, 1) is the share of the jitter that is taken. Waits 0.2 s first, then twice as
  // long each time, up to the cap.
  void failed(Now now, double fraction) {
    const double longer = 1.0 + options_.jitter * fraction;
    next_try_ =
        now + Duration(static_cast<Duration::rep>(static_cast<double>(wait_.count()) * longer));
    wait_ = std::min(wait_ * 2, options_.cap);
  }

  // A server has answered: the next loss begins with the first wait again.
  void succeeded() { wait_ = options_.first; }

  // Zero: now.
  Duration wait_left(Now now) const {
    return std::max(Duration{0}, std::chrono::ceil<Duration>(next_try_ - now));
  }

 private:
  Options options_;
  Duration wait_;
  Now next_try_{};
};

}  // namespace order_timeout::redis
