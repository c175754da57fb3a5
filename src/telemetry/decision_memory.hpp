// The last decision on each order, so that the audit log has a line when it changes and not each
// time it is confirmed. Pure.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "order_timeout/order.hpp"
#include "order_timeout/outcome.hpp"

namespace order_timeout::telemetry {

class DecisionMemory {
 public:
  // Remembers the `orders_min` orders looked at last, and never more than twice as many.
  explicit DecisionMemory(std::size_t orders_min) : orders_min_(orders_min) {}

  // Is this another decision than the one remembered, or the first? Remembers it. O(1).
  bool changed(OrderId id, CloseOutcome outcome);
  void forget(OrderId id);

 private:
  std::size_t orders_min_;
  std::unordered_map<OrderId, CloseOutcome> young_, old_;
};

}  // namespace order_timeout::telemetry
