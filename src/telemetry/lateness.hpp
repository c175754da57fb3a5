// How late orders were closed, as percentiles: a histogram of fixed size whose buckets are at most
// 1/32 of their value wide, so that a percentile is within 2 % of the true one. Pure.
#pragma once

#include <array>
#include <cstdint>

namespace order_timeout::telemetry {

struct LatenessSummary {
  std::int64_t p50_ms = 0;
  std::int64_t p99_ms = 0;
  std::int64_t max_ms = 0;  // exact
  std::uint64_t count = 0;
};

class LatenessHistogram {
 public:
  // Negative lateness counts as 0. O(1).
  void record(std::int64_t ms);
  // Zeros where nothing was recorded. O(buckets).
  LatenessSummary summary() const;

 private:
  // 64 exact values, then 32 buckets for each doubling up to 2^63.
  static constexpr std::size_t kBuckets = 64 + 32 * 57;
  static std::size_t bucket_of(std::uint64_t ms);
  static std::int64_t middle_of(std::size_t bucket);
  std::int64_t percentile(std::uint64_t per_hundred) const;

  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t count_ = 0;
  std::int64_t max_ms_ = 0;
};

}  // namespace order_timeout::telemetry
