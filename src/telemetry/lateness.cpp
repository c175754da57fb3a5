#include "telemetry/lateness.hpp"

#include <algorithm>
#include <bit>

namespace order_timeout::telemetry {
namespace {

constexpr std::size_t kExact = 64;
constexpr std::size_t kPerDoubling = 32;

}  // namespace

std::size_t LatenessHistogram::bucket_of(std::uint64_t ms) {
  if (ms < kExact) return static_cast<std::size_t>(ms);
  const auto doublings = static_cast<std::size_t>(std::bit_width(ms)) - 7;  // 64..127: 0
  const std::uint64_t within = (ms >> (doublings + 1)) - kPerDoubling;
  return kExact + doublings * kPerDoubling + static_cast<std::size_t>(within);
}

std::int64_t LatenessHistogram::middle_of(std::size_t bucket) {
  if (bucket < kExact) return static_cast<std::int64_t>(bucket);
  const std::size_t doublings = (bucket - kExact) / kPerDoubling;
  const std::uint64_t within = (bucket - kExact) % kPerDoubling + kPerDoubling;
  const std::uint64_t low = within << (doublings + 1);
  return static_cast<std::int64_t>(low + (std::uint64_t{1} << doublings));
}

void LatenessHistogram::record(std::int64_t ms) {
  const std::int64_t late = std::max<std::int64_t>(ms, 0);
  ++counts_.at(bucket_of(static_cast<std::uint64_t>(late)));
  ++count_;
  max_ms_ = std::max(max_ms_, late);
}

std::int64_t LatenessHistogram::percentile(std::uint64_t per_hundred) const {
  // The smallest value that at least so many of a hundred do not exceed.
  const std::uint64_t rank = count_ / 100 * per_hundred + (count_ % 100 * per_hundred + 99) / 100;
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += counts_[bucket];
    if (seen >= rank) return std::min(middle_of(bucket), max_ms_);
  }
  return max_ms_;
}

LatenessSummary LatenessHistogram::summary() const {
  if (count_ == 0) return {};
  return {.p50_ms = percentile(50), .p99_ms = percentile(99), .max_ms = max_ms_, .count = count_};
}

}  // namespace order_timeout::telemetry
