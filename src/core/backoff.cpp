#include "order_timeout/backoff.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace order_timeout {
namespace {

constexpr Duration kDefaultWait{1'000};
constexpr Duration kShortestWait{1};

// A share of `whole`, 0 to whole; a share outside [0, 1) or none at all (NaN) is held at the ends.
std::int64_t share_of(std::int64_t whole, double share) {
  if (!(share > 0.0)) return 0;
  if (share >= 1.0) return whole;
  const double part = share * static_cast<double>(whole);  // below 2^62: half of a step at most
  return std::min(whole, static_cast<std::int64_t>(part));
}

}  // namespace

Backoff::Backoff(std::vector<Duration> waits) : waits_(std::move(waits)) {
  if (waits_.empty()) waits_.push_back(kDefaultWait);
  for (Duration& wait : waits_) wait = std::max(wait, kShortestWait);
}

Duration Backoff::wait(int retry_number, double random) const {
  const auto retries_before = static_cast<std::size_t>(std::max(retry_number, 1) - 1);
  const std::int64_t step = waits_[std::min(retries_before, waits_.size() - 1)].count();
  const std::int64_t jitter = step / 2;
  return Duration{step - jitter + share_of(jitter, random)};
}

}  // namespace order_timeout
