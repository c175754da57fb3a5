#include "order_timeout/rate_limiter.hpp"

#include <algorithm>

namespace order_timeout {
namespace {

constexpr std::int64_t kToken = 1'000;  // one token, in the unit of the credit
constexpr std::int64_t kBucketsPerSecond = 10;
constexpr Duration kFullAfter{1'000};  // any bucket is full by then, so no more need be counted

}  // namespace

RateLimiter::RateLimiter(int per_second)
    : per_second_(std::max(per_second, 0)),
      credit_(std::max<std::int64_t>(per_second_ / kBucketsPerSecond, 1) * kToken),
      // What a millisecond brings beyond the last token is kept, or 3 a second would be 2.99.
      capacity_(credit_ + std::clamp<std::int64_t>(per_second_ - 1, 0, kToken - 1)) {}

std::size_t RateLimiter::allowance(Instant now, std::size_t wanted) {
  if (per_second_ == 0) return wanted;
  credit_ = credit_at(now);
  last_ = std::max(last_, now);
  const auto allowed = std::min(wanted, static_cast<std::size_t>(credit_ / kToken));
  credit_ -= static_cast<std::int64_t>(allowed) * kToken;
  return allowed;
}

void RateLimiter::give_back(std::size_t count) {
  const auto tokens = std::min(count, static_cast<std::size_t>(capacity_ / kToken));
  credit_ = std::min(capacity_, credit_ + static_cast<std::int64_t>(tokens) * kToken);
}

Instant RateLimiter::next_at(Instant now) const {
  if (per_second_ == 0) return now;
  const std::int64_t missing = kToken - credit_at(now);
  if (missing <= 0) return now;
  const Duration wait{(missing + per_second_ - 1) / per_second_};
  return saturating_add(std::max(last_, now), wait);
}

std::int64_t RateLimiter::credit_at(Instant now) const {
  if (now <= last_) return credit_;
  const Duration elapsed = std::min(saturating_sub(now, last_), kFullAfter);
  return std::min(capacity_, credit_ + elapsed.count() * per_second_);
}

}  // namespace order_timeout
