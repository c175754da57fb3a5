// What the tests of the wheel have in common.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <vector>

#include "order_timeout/wheel.hpp"

namespace order_timeout {

inline constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
inline constexpr Duration kDay = std::chrono::hours{24};
inline constexpr Duration kYear = 365 * kDay;
// A day in 2026, on no border of the wheel.
inline constexpr Instant kStart = instant_from_ms(1'796'000'000'123);

inline TrackedOrder order(OrderId id, Instant due) {
  return {.id = id, .due = due, .version = 0, .source = Source::wheel};
}

inline std::vector<OrderId> ids_of(const std::vector<TrackedOrder>& orders) {
  std::vector<OrderId> ids;
  for (const TrackedOrder& one : orders) ids.push_back(one.id);
  return ids;
}

// In as many calls as the bound on one call's work makes it.
inline std::vector<TrackedOrder> take_due(TimingWheel& wheel, Instant now, std::size_t max = kAll) {
  std::vector<TrackedOrder> all = wheel.advance(now, {.orders = max});
  while (all.size() < max && wheel.next_due() <= now && wheel.next_due()) {
    for (const TrackedOrder& one : wheel.advance(now, {.orders = max - all.size()})) {
      all.push_back(one);
    }
  }
  return all;
}

inline std::vector<OrderId> due_ids(TimingWheel& wheel, Instant now, std::size_t max = kAll) {
  return ids_of(take_due(wheel, now, max));
}

}  // namespace order_timeout
