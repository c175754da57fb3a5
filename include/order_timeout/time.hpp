// Time as the daemon decides by it: the database's clock, in whole milliseconds. The only place
// that names a clock type. Nothing here reads a clock; whoever needs to know the time is told it.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace order_timeout {

using Duration = std::chrono::milliseconds;

// Tag of PostgreSQL's clock. It has no now(): the database is asked, or its time is estimated from
// the monotonic clock (clock_estimate.hpp).
struct DatabaseClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<DatabaseClock, duration>;
  static constexpr bool is_steady = false;
};

// An instant on the database's clock: milliseconds since 1970-01-01T00:00Z. A database timestamp,
// which has microseconds, is rounded up on its way here, so that an instant reached is never before
// the timestamp.
using Instant = DatabaseClock::time_point;

// Stands for PostgreSQL's 'infinity': such a deadline never comes.
inline constexpr Instant kNever{Duration{std::numeric_limits<std::int64_t>::max()}};
// Stands for PostgreSQL's '-infinity': such a deadline has always passed.
inline constexpr Instant kAlways{Duration{std::numeric_limits<std::int64_t>::min()}};

constexpr Instant instant_from_ms(std::int64_t ms) { return Instant{Duration{ms}}; }
constexpr std::int64_t to_ms(Instant instant) { return instant.time_since_epoch().count(); }

// `instant + duration`, held at the ends of the range instead of overflowing.
constexpr Instant saturating_add(Instant instant, Duration duration) {
  const std::int64_t at = to_ms(instant);
  const std::int64_t by = duration.count();
  if (instant == kNever || instant == kAlways) return instant;
  if (by > 0 && at > std::numeric_limits<std::int64_t>::max() - by) return kNever;
  if (by < 0 && at < std::numeric_limits<std::int64_t>::min() - by) return kAlways;
  return instant_from_ms(at + by);
}

// `later - earlier`, held at the ends of the range instead of overflowing.
constexpr Duration saturating_sub(Instant later, Instant earlier) {
  const std::int64_t a = to_ms(later);
  const std::int64_t b = to_ms(earlier);
  if (b < 0 && a > std::numeric_limits<std::int64_t>::max() + b) return Duration::max();
  if (b > 0 && a < std::numeric_limits<std::int64_t>::min() + b) return Duration::min();
  return Duration{a - b};
}

}  // namespace order_timeout
