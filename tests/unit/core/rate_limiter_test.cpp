// Proves that the limiter lets through what it is told to over any time, at once no more than
// 100 ms worth, and that no clock value gives more.
#include "order_timeout/rate_limiter.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace order_timeout {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart = instant_from_ms(1'796'000'000'000);

TEST(RateLimiter, WithoutALimitLetsEverythingThrough) {
  for (const int none : {0, -1, std::numeric_limits<int>::min()}) {
    RateLimiter limiter{none};
    EXPECT_EQ(limiter.allowance(kStart, 1'000'000), 1'000'000U);
    EXPECT_EQ(limiter.allowance(kStart, 1'000'000), 1'000'000U);
    EXPECT_EQ(limiter.next_at(kStart), kStart);
  }
}

TEST(RateLimiter, StartsWithABurstOfAHundredMilliseconds) {
  RateLimiter limiter{200};
  EXPECT_EQ(limiter.allowance(kStart, 15), 15U);
  EXPECT_EQ(limiter.allowance(kStart, 15), 5U);
  EXPECT_EQ(limiter.allowance(kStart, 15), 0U);
}

TEST(RateLimiter, NeverSavesUpMoreThanABurst) {
  RateLimiter limiter{200};
  EXPECT_EQ(limiter.allowance(kStart, 20), 20U);
  EXPECT_EQ(limiter.allowance(kStart + 24h, 1'000), 20U);
}

TEST(RateLimiter, LetsTheRateThroughOverTimeHoweverOftenItIsAsked) {
  for (const int per_second : {1, 3, 7, 10, 99, 500, 1'000, 7'777}) {
    RateLimiter limiter{per_second};
    limiter.allowance(kStart, 1'000'000);
    std::size_t gone = 0;
    for (Instant now = kStart; now <= kStart + 10s; now += 1ms) gone += limiter.allowance(now, 100);
    EXPECT_EQ(gone, static_cast<std::size_t>(per_second) * 10) << per_second;
  }
}

TEST(RateLimiter, ARateBelowTenStillLetsOneThroughAtATime) {
  RateLimiter limiter{1};
  EXPECT_EQ(limiter.allowance(kStart, 5), 1U);
  EXPECT_EQ(limiter.allowance(kStart + 999ms, 5), 0U);
  EXPECT_EQ(limiter.allowance(kStart + 1s, 5), 1U);
}

TEST(RateLimiter, SaysExactlyWhenTheNextMayGo) {
  for (const int per_second : {1, 3, 7, 999, 1'000, 5'000}) {
    RateLimiter limiter{per_second};
    EXPECT_EQ(limiter.next_at(kStart), kStart);
    limiter.allowance(kStart, 1'000'000);
    const Instant next = limiter.next_at(kStart);
    EXPECT_GT(next, kStart);
    EXPECT_EQ(limiter.allowance(next - 1ms, 1), 0U) << per_second;
    EXPECT_EQ(limiter.allowance(next, 1), 1U) << per_second;
  }
}

TEST(RateLimiter, WhatDidNotGoMayGoLater) {
  RateLimiter limiter{200};
  EXPECT_EQ(limiter.allowance(kStart, 20), 20U);
  limiter.give_back(8);
  EXPECT_EQ(limiter.allowance(kStart, 20), 8U);
  limiter.give_back(std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(limiter.allowance(kStart, 100), 20U);
}

TEST(RateLimiter, ATimeThatGoesBackGivesNothing) {
  RateLimiter limiter{200};
  EXPECT_EQ(limiter.allowance(kStart, 20), 20U);
  EXPECT_EQ(limiter.allowance(kStart - 1h, 20), 0U);
  EXPECT_EQ(limiter.next_at(kStart - 1h), kStart + 5ms);
  EXPECT_EQ(limiter.allowance(kStart, 20), 0U);
  EXPECT_EQ(limiter.allowance(kStart + 5ms, 20), 1U);
}

TEST(RateLimiter, NothingOverflowsAtTheEndsOfTheRange) {
  RateLimiter limiter{std::numeric_limits<int>::max()};
  constexpr std::size_t kBurst = std::numeric_limits<int>::max() / 10;
  EXPECT_EQ(limiter.allowance(kAlways, kBurst * 2), kBurst);
  EXPECT_EQ(limiter.allowance(kNever, kBurst * 2), kBurst);
  EXPECT_EQ(limiter.next_at(kNever), kNever);
}

}  // namespace
}  // namespace order_timeout
