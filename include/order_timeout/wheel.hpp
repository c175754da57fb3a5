// The hierarchical timing wheel: every pending order by its due instant, 1 ms ticks, by order id.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "order_timeout/order.hpp"
#include "order_timeout/time.hpp"

namespace order_timeout {

class TimingWheel {
 public:
  // The wheel's time starts at `start` and never moves back.
  explicit TimingWheel(Instant start);

  // Takes the order in, or replaces what is held under its id (earlier or later). Any due instant is legal: one that
  // has passed comes out with the next advance, kNever never does. O(1); overdue ones O(log overdue).
  void schedule(const TrackedOrder& order);
  // False where the id is not held. O(1).
  bool cancel(OrderId id);
  std::optional<TrackedOrder> find(OrderId id) const;

  // Moves time to `now` and takes out at most `max` orders with due <= now, earliest first; what the bound left
  // comes with the next call. A `now` before the wheel's time only returns what is left over. Never early.
  std::vector<TrackedOrder> advance(Instant now, std::size_t max);

  // A lower bound of the earliest due instant held: never later than the true one, so a sleeper wakes in time.
  // Nothing where no order is held (or all are due never).
  std::optional<Instant> next_due() const;

  std::size_t size() const;
  std::size_t memory_bytes() const;
};

}  // namespace order_timeout
