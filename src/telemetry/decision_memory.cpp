#include "telemetry/decision_memory.hpp"

#include <utility>

namespace order_timeout::telemetry {

bool DecisionMemory::changed(OrderId id, CloseOutcome outcome) {
  const auto young = young_.find(id);
  if (young != young_.end()) return std::exchange(young->second, outcome) != outcome;
  const auto old = old_.find(id);
  const bool same = old != old_.end() && old->second == outcome;
  if (young_.size() >= orders_min_) {
    old_ = std::move(young_);
    young_ = {};
  }
  young_.emplace(id, outcome);
  return !same;
}

void DecisionMemory::forget(OrderId id) {
  young_.erase(id);
  old_.erase(id);
}

}  // namespace order_timeout::telemetry
