// Proves that the estimate is never ahead of the database's clock, behind it by little, that slow
// answers do not spoil it, and that a clock that was set is followed and reported.
#include "order_timeout/clock_estimate.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace order_timeout {
namespace {

using namespace std::chrono_literals;

constexpr Instant kNoon = instant_from_ms(1'796'040'000'000);
constexpr Monotonic kUptime = 400h;

// A database whose clock showed `at_uptime` at kUptime; drift in parts of a million.
struct Database {
  Instant at_uptime = kNoon;
  int drift_ppm = 0;

  std::chrono::nanoseconds exact(Monotonic at) const {
    const auto elapsed = at - kUptime;
    return at_uptime.time_since_epoch() + elapsed + elapsed * drift_ppm / 1'000'000;
  }

  DatabaseTimeSample answer(Monotonic sent, Monotonic there, Monotonic back) const {
    return {.sent = sent,
            .received = sent + there + back,
            .database = Instant{std::chrono::ceil<Duration>(exact(sent + there))}};
  }
};

TEST(ClockEstimate, KnowsNothingBeforeTheFirstSample) {
  const ClockEstimate clock;
  EXPECT_FALSE(clock.known());
  EXPECT_EQ(clock.now(kUptime), kAlways);
  EXPECT_EQ(clock.skew(kNoon, kUptime), 0ms);
  EXPECT_EQ(clock.uncertainty(), 0ms);
}

TEST(ClockEstimate, CarriesTheDatabasesTimeOn) {
  ClockEstimate clock;
  EXPECT_EQ(clock.add(Database{}.answer(kUptime, 1ms, 1ms)), std::nullopt);
  EXPECT_TRUE(clock.known());
  EXPECT_LE(clock.now(kUptime + 1h), kNoon + 1h);
  EXPECT_GE(clock.now(kUptime + 1h), kNoon + 1h - clock.uncertainty());
  EXPECT_EQ(clock.uncertainty(), 3ms);  // the round trip, and 1 ms for a rounded timestamp
}

TEST(ClockEstimate, IsNeverAheadOfTheDatabaseWhateverTheRoundTripsAre) {
  std::mt19937_64 random{7};
  std::uniform_int_distribution<std::int64_t> microseconds{0, 3'000'000};
  const Database database{.at_uptime = kNoon + 3ms};
  ClockEstimate clock;
  Monotonic now = kUptime;
  for (int sample = 0; sample < 20'000; ++sample) {
    const auto there = std::chrono::microseconds{microseconds(random) >> sample % 20};
    const auto back = std::chrono::microseconds{microseconds(random) >> sample % 18};
    const auto answer = database.answer(now, there, back);
    ASSERT_EQ(clock.add(answer), std::nullopt);
    now = answer.received + std::chrono::microseconds{microseconds(random)};
    ASSERT_LE(clock.now(now).time_since_epoch(), database.exact(now));
    const auto behind = database.exact(now) - clock.now(now).time_since_epoch();
    ASSERT_LE(behind, clock.uncertainty() + 1ms);
  }
}

TEST(ClockEstimate, KeepsTheBestOfTheLastEightSamples) {
  ClockEstimate clock;
  const Database database;
  clock.add(database.answer(kUptime, 0ms, 1ms));
  const Duration best = clock.uncertainty();
  for (int sample = 1; sample <= 7; ++sample) {
    clock.add(database.answer(kUptime + sample * 1s, 0ms, 500ms));
    EXPECT_EQ(clock.uncertainty(), best);
  }
  clock.add(database.answer(kUptime + 8s, 0ms, 500ms));
  EXPECT_GT(clock.uncertainty(), 500ms);
}

TEST(ClockEstimate, ASlowAnswerIsNoJump) {
  ClockEstimate clock;
  const Database database;
  EXPECT_EQ(clock.add(database.answer(kUptime, 0s, 10s)), std::nullopt);
  EXPECT_EQ(clock.add(database.answer(kUptime + 20s, 1ms, 1ms)), std::nullopt);
  EXPECT_EQ(clock.add(database.answer(kUptime + 30s, 10s, 0s)), std::nullopt);
  EXPECT_EQ(clock.add(database.answer(kUptime + 50s, 0s, 10s)), std::nullopt);
  EXPECT_GE(clock.now(kUptime + 60s), kNoon + 60s - 3ms);
}

TEST(ClockEstimate, FollowsAndReportsAClockThatWasSet) {
  for (const Duration change :
       {Duration{1'100ms}, Duration{-1'100ms}, Duration{24h}, Duration{-24h}}) {
    ClockEstimate clock;
    for (int sample = 0; sample < 8; ++sample) {
      clock.add(Database{}.answer(kUptime + sample * 1s, 1ms, 1ms));
    }
    const Database set{.at_uptime = kNoon + change};
    const auto jump = clock.add(set.answer(kUptime + 10s, 1ms, 1ms));
    ASSERT_TRUE(jump.has_value()) << change.count();
    EXPECT_EQ(jump->after - jump->before, change);
    EXPECT_EQ(jump->after, clock.now(kUptime + 10s + 2ms));
    EXPECT_LE(clock.now(kUptime + 11s), kNoon + 11s + change);
    EXPECT_EQ(clock.add(set.answer(kUptime + 12s, 1ms, 1ms)), std::nullopt) << "reported twice";
  }
}

TEST(ClockEstimate, ASmallStepBackIsFollowedAtOnce) {
  ClockEstimate clock;
  clock.add(Database{}.answer(kUptime, 1ms, 1ms));
  const Database set{.at_uptime = kNoon - 300ms};
  EXPECT_EQ(clock.add(set.answer(kUptime + 1s, 1ms, 1ms)), std::nullopt);
  EXPECT_LE(clock.now(kUptime + 2s), kNoon + 2s - 300ms);
}

TEST(ClockEstimate, FollowsAClockThatDrifts) {
  for (const int drift : {-200, 200}) {
    const Database database{.drift_ppm = drift};
    ClockEstimate clock;
    for (Monotonic at = kUptime; at < kUptime + 2h; at += 1s) {
      ASSERT_EQ(clock.add(database.answer(at, 1ms, 1ms)), std::nullopt);
    }
    const Monotonic later = kUptime + 2h;
    const auto off = clock.now(later).time_since_epoch() - database.exact(later);
    EXPECT_LT(off, 2ms);
    EXPECT_GT(off, -6ms);
  }
}

TEST(ClockEstimate, TellsHowFarOurClockIsAhead) {
  ClockEstimate clock;
  clock.add(Database{}.answer(kUptime, 0ms, 0ms));
  const Duration ahead = clock.skew(kNoon + 1min + 90s, kUptime + 1min);
  EXPECT_GE(ahead, 90s);
  EXPECT_LE(ahead, 90s + 2ms);
  EXPECT_LT(clock.skew(kNoon - 1h, kUptime), -59min);
}

}  // namespace
}  // namespace order_timeout
