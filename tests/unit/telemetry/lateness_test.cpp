// Proves that the percentiles of the stats line are within 5 % of the exact ones, over values from
// 0 ms to days, and that nothing overflows.
#include "telemetry/lateness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace order_timeout::telemetry {
namespace {

std::int64_t exact(const std::vector<std::int64_t>& sorted, std::size_t per_hundred) {
  return sorted.at((sorted.size() * per_hundred + 99) / 100 - 1);
}

void expect_near(std::int64_t got, std::int64_t wanted) {
  EXPECT_NEAR(static_cast<double>(got), static_cast<double>(wanted),
              0.05 * static_cast<double>(wanted));
}

TEST(LatenessHistogram, IsEmptyAtFirst) {
  const LatenessSummary summary = LatenessHistogram{}.summary();
  EXPECT_EQ(summary.count, 0U);
  EXPECT_EQ(summary.max_ms, 0);
}

TEST(LatenessHistogram, IsExactForSmallValues) {
  LatenessHistogram histogram;
  for (std::int64_t ms = 1; ms <= 50; ++ms) histogram.record(ms);
  const LatenessSummary summary = histogram.summary();
  EXPECT_EQ(summary.p50_ms, 25);
  EXPECT_EQ(summary.p99_ms, 50);
  EXPECT_EQ(summary.count, 50U);
}

TEST(LatenessHistogram, IsWithinFivePercentOfTheExactPercentiles) {
  std::mt19937_64 random{11};
  std::uniform_real_distribution<double> exponent{0, 9};
  for (int round = 0; round < 50; ++round) {
    LatenessHistogram histogram;
    std::vector<std::int64_t> values;
    for (int i = 0; i < 2'000; ++i) {
      values.push_back(static_cast<std::int64_t>(std::pow(10.0, exponent(random))));
      histogram.record(values.back());
    }
    std::sort(values.begin(), values.end());
    const LatenessSummary summary = histogram.summary();
    expect_near(summary.p50_ms, exact(values, 50));
    expect_near(summary.p99_ms, exact(values, 99));
    EXPECT_EQ(summary.max_ms, values.back());
  }
}

TEST(LatenessHistogram, HoldsTheWholeRange) {
  LatenessHistogram histogram;
  histogram.record(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(histogram.summary().max_ms, std::numeric_limits<std::int64_t>::max());
  expect_near(histogram.summary().p50_ms, std::numeric_limits<std::int64_t>::max());
  LatenessHistogram early;
  early.record(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(early.summary().p99_ms, 0);
}

}  // namespace
}  // namespace order_timeout::telemetry
