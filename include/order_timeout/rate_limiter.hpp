// At most so many a second: a token bucket in whole numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "order_timeout/time.hpp"

namespace order_timeout {

// Starts full. The bucket holds 100 ms worth of tokens, at least one: more than that is never let
// through at once. Time never goes back: a `now` before an earlier one counts as that one.
class RateLimiter {
 public:
  // 0 (or less): no limit.
  explicit RateLimiter(int per_second);

  // How many of `wanted` may go now; they count as gone.
  std::size_t allowance(Instant now, std::size_t wanted);
  // Of what was allowed, `count` did not go after all.
  void give_back(std::size_t count);
  // The first instant from `now` on at which at least one may go.
  Instant next_at(Instant now) const;

 private:
  std::int64_t credit_at(Instant now) const;

  std::int64_t per_second_;
  std::int64_t credit_;    // thousandths of a token: a millisecond brings per_second_ of them
  std::int64_t capacity_;  // of the bucket: whole tokens, and less than one more
  Instant last_ = kAlways;
};

}  // namespace order_timeout
