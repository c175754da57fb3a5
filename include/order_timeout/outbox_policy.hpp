// What becomes of an event after an attempt to deliver it: finished, again later, or dead.
#pragma once

#include <string>

#include "order_timeout/backoff.hpp"
#include "order_timeout/config.hpp"
#include "order_timeout/order.hpp"
#include "order_timeout/outcome.hpp"
#include "order_timeout/time.hpp"

namespace order_timeout {

struct NextStep {
  EventStatus status = EventStatus::pending;
  Duration wait{0};           // until the next attempt, for pending and uncertain
  bool attempt_spent = true;  // false: the attempt counted at the claim is given back
  std::string last_error;     // empty for success
};

// A value. The rules are CONTRACT's, "HTTP to a sink": only a spent attempt brings an event nearer
// to dead, and an event that may have had its effect stays uncertain until a sink says done.
class OutboxPolicy {
 public:
  static constexpr Duration kLongestRetryAfter{3'600'000};  // a sink may ask for more, in vain
  static constexpr Duration kUnhealthyWait{5'000};          // at least, after 401 and 403

  explicit OutboxPolicy(const OutboxConfig& config);

  // `random` is from [0, 1): the jitter of the wait.
  NextStep next(const OutboxEvent& event, const DeliveryOutcome& outcome, double random) const;

 private:
  Duration wait(const OutboxEvent& event, const DeliveryOutcome& outcome, double random) const;

  Backoff backoff_;
  int max_attempts_;
};

}  // namespace order_timeout
