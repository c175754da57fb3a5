#include "order_timeout/deadline_policy.hpp"

#include <algorithm>
#include <cmath>

namespace order_timeout {
namespace {

constexpr double kFirstMs = 946'684'800'000;   // 2000-01-01T00:00Z
constexpr double kLastMs = 7'258'118'400'000;  // 2200-01-01T00:00Z

}  // namespace

Instant close_not_before(Instant database_due, std::optional<Instant> reminder,
                         Duration max_extension) {
  if (!reminder || *reminder <= database_due) return database_due;
  const Duration extension = std::max(max_extension, Duration::zero());
  return std::min(*reminder, saturating_add(database_due, extension));
}

std::optional<Instant> instant_of_score(double score, ScoreUnit unit) {
  const double ms = unit == ScoreUnit::seconds ? score * 1'000 : score;
  const bool sensible = ms >= kFirstMs && ms <= kLastMs;  // false for NaN
  if (!sensible) return std::nullopt;
  return instant_from_ms(static_cast<std::int64_t>(std::ceil(ms)));
}

}  // namespace order_timeout
