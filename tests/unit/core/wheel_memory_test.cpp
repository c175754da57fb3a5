// Proves that the work of one call and the memory of the wheel have bounds: stale entries of
// cancelled and moved orders are swept out whatever the churn, memory goes back, a call stops at
// its budget and the next one goes on, and a generation that has come round does no harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "order_timeout/wheel.hpp"
#include "support/wheel_orders.hpp"

namespace order_timeout {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// --- The budget of a call ---------------------------------------------------------------------

TEST(TimingWheelBudget, ACallStopsAtItsWorkAndTheNextOneGoesOn) {
  // A cascade that no bound counts: 445 ms in one call of a widely used wheel at 100 million.
  constexpr std::size_t kOrders = 20'000;
  TimingWheel wheel(kStart);
  for (OrderId id = 0; id < static_cast<OrderId>(kOrders); ++id) {
    wheel.schedule(order(id, kStart + 10 * kDay + Duration{id % 1'000}));
  }
  std::size_t calls = 0;
  std::size_t taken = 0;
  while (wheel.next_due() && calls < 10'000) {
    const auto due = wheel.advance(kStart + 11 * kDay, {.orders = kAll, .work = 100});
    ASSERT_LE(due.size(), 130U);
    taken += due.size();
    calls += 1;
  }
  EXPECT_EQ(taken, kOrders);
  EXPECT_GE(calls, kOrders * 2 / 130) << "entries that are moved were not counted";
  EXPECT_EQ(wheel.check_invariants(), "");
}

TEST(TimingWheelBudget, StaleEntriesThatAreSkippedCountAsWork) {
  TimingWheel wheel(kStart);
  for (OrderId id = 2; id < 3'000; ++id) wheel.schedule(order(id, kStart + 1ms));
  wheel.schedule(order(1, kStart + 1ms));
  for (OrderId id = 2; id < 3'000; ++id) wheel.cancel(id);
  EXPECT_THAT(wheel.advance(kStart + 1ms, {.orders = kAll, .work = 500}), IsEmpty());
  EXPECT_EQ(wheel.next_due(), kStart + 1ms);
  EXPECT_THAT(due_ids(wheel, kStart + 1ms), ElementsAre(1));
}

TEST(TimingWheelBudget, WhatIsScheduledWhileACallIsCutShortIsNeitherLostNorEarly) {
  TimingWheel wheel(kStart);
  for (OrderId id = 1; id <= 500; ++id) wheel.schedule(order(id, kStart + 3h + Duration{id}));
  const Instant now = kStart + 3h + 250ms;
  wheel.advance(now, {.orders = kAll, .work = 40});
  wheel.schedule(order(1'001, kStart + 3h + 251ms));
  wheel.schedule(order(1'002, kStart + 3h));
  EXPECT_EQ(wheel.check_invariants(), "");
  EXPECT_EQ(due_ids(wheel, now).size(), 251U);
  EXPECT_THAT(due_ids(wheel, now + 1ms), UnorderedElementsAre(251, 1'001));
}

TEST(TimingWheelBudget, TicksThatPassOneByOneNeverMeetAMomentWithMuchWork) {
  // 100 orders a millisecond over ten minutes; every call does about its share.
  TimingWheel wheel(kStart);
  std::mt19937_64 random{1};
  constexpr std::int64_t kSpan = 2'000;
  for (OrderId id = 0; id < 100 * kSpan; ++id) {
    const auto after = static_cast<std::int64_t>(random() % kSpan);
    wheel.schedule(order(id, kStart + 5'000s + Duration{after}));
  }
  wheel.advance(kStart + 1s, {.orders = kAll});
  for (std::int64_t ms = 1; ms <= 4'000'000; ms += 100) {  // the far window comes nearer
    ASSERT_THAT(wheel.advance(kStart + 1s + Duration{ms}, {.orders = kAll}), IsEmpty());
  }
  wheel.advance(kStart + 4'990s, {.orders = kAll, .work = kAll});
  for (std::int64_t ms = 0; ms < 10'000 + kSpan; ++ms) {
    wheel.advance(kStart + 4'990s + Duration{ms}, {.orders = kAll, .work = 1'000});
    ASSERT_TRUE(!wheel.next_due() || *wheel.next_due() > kStart + 4'990s + Duration{ms}) << ms;
  }
  EXPECT_EQ(wheel.size(), 0U);
}

// --- Stale entries ----------------------------------------------------------------------------

TEST(TimingWheelMemory, CancelledAndFiredOrdersLeaveNothingBehind) {
  // Kept until their slot came round: github.com/netty/netty/pull/2561.
  TimingWheel wheel(kStart);
  wheel.schedule(order(0, kNever));
  for (OrderId id = 1; id <= 20'000; ++id) wheel.schedule(order(id, kStart + 1h));
  for (OrderId id = 1; id <= 20'000; ++id) wheel.cancel(id);
  const std::size_t before = wheel.memory_bytes();
  for (OrderId id = 1; id <= 400'000; ++id) {
    wheel.schedule(order(id, kStart + (id % 3 - 1) * 30min));
    if (id % 2 == 0) wheel.cancel(id);
    if (id % 16 == 0) take_due(wheel, kStart + 30min);
  }
  EXPECT_LE(wheel.memory_bytes(), before + (std::size_t{1} << 20));
  EXPECT_EQ(wheel.check_invariants(), "");
}

// However orders are moved and cancelled while no time passes: stale entries stay within the number
// of orders and a constant.
TEST(TimingWheelMemory, ChurnWithoutTimeKeepsWithinItsShare) {
  for (const Duration ahead : {Duration{100ms}, Duration{30min}, Duration{30 * kDay}}) {
    TimingWheel wheel(kStart);
    constexpr OrderId kOrders = 5'000;
    std::mt19937_64 random{7};
    for (int step = 0; step < 300'000; ++step) {
      const auto id = static_cast<OrderId>(random() % kOrders);
      const auto earlier = Duration{static_cast<std::int64_t>(random() % 1'000)};
      if (random() % 3 == 0) {
        wheel.cancel(id);
      } else {
        wheel.schedule(order(id, kStart + ahead + earlier));
      }
      ASSERT_LE(wheel.stale_entries(), static_cast<std::size_t>(kOrders) + 6'000U);
    }
    EXPECT_EQ(wheel.check_invariants(), "");
  }
}

// The same tick again and again: every stale entry names the number and the slot of one that
// counts.
TEST(TimingWheelMemory, AnOrderCancelledAndScheduledForTheSameTickAMillionTimesLeavesNoPile) {
  TimingWheel wheel(kStart);
  for (int round = 0; round < 1'000'000; ++round) {
    wheel.schedule(order(1, kStart + 1h));
    wheel.cancel(1);
  }
  EXPECT_LE(wheel.stale_entries(), 5'000U);
  wheel.schedule(order(1, kStart + 1h));
  EXPECT_THAT(due_ids(wheel, kStart + 1h), ElementsAre(1));
  EXPECT_THAT(due_ids(wheel, kStart + 2h), IsEmpty());
}

TEST(TimingWheelMemory, GoesBackWhenOrdersGo) {
  TimingWheel wheel(kStart);
  const std::size_t empty = wheel.memory_bytes();
  for (OrderId id = 0; id < 400'000; ++id) wheel.schedule(order(id, kStart + Duration{id}));
  EXPECT_GT(wheel.memory_bytes(), 400'000U * 36U);
  take_due(wheel, kStart + 1h);
  EXPECT_LT(wheel.memory_bytes(), empty + (std::size_t{4} << 20)) << "a segment of each kind";
}

// --- Generations ------------------------------------------------------------------------------

TEST(TimingWheelGeneration, AnEntryWhoseGenerationHasComeRoundFiresNothingTwiceOrEarly) {
  // 64 moves to an earlier tick leave 64 entries of one number; two each look like the one that
  // counts.
  for (const Duration base : {Duration{200ms}, Duration{1h}, Duration{20 * kDay}}) {
    TimingWheel wheel(kStart);
    for (int move = 64; move >= 1; --move) wheel.schedule(order(1, kStart + base + move * 1ms));
    wheel.schedule(order(1, kStart + base + 100ms));
    EXPECT_EQ(wheel.check_invariants(), "");
    EXPECT_THAT(due_ids(wheel, kStart + base + 99ms), IsEmpty());
    EXPECT_EQ(wheel.check_invariants(), "");
    EXPECT_THAT(due_ids(wheel, kStart + base + 100ms), ElementsAre(1));
    EXPECT_THAT(due_ids(wheel, kStart + base + 1h), IsEmpty());
    EXPECT_EQ(wheel.stale_entries(), 0U);
  }
}

TEST(TimingWheelGeneration, EntriesOfAnEarlierOrderWithTheSameNumberDoNoHarm) {
  TimingWheel wheel(kStart);
  for (OrderId id = 1; id <= 64; ++id) {  // each takes over the number of the one before
    wheel.schedule(order(id, kStart + 1s));
    wheel.cancel(id);
  }
  wheel.schedule(order(100, kStart + 1min));
  EXPECT_THAT(due_ids(wheel, kStart + 30s), IsEmpty());
  EXPECT_EQ(wheel.check_invariants(), "");
  EXPECT_THAT(due_ids(wheel, kStart + 1min), ElementsAre(100));
  EXPECT_EQ(wheel.size(), 0U);
}

// --- Many at once, and the most there may be ----------------------------------------------------

TEST(TimingWheelBatch, ManyAtOnceAreTakenInAndCancelledAsOneByOne) {
  TimingWheel wheel(kStart);
  std::vector<TrackedOrder> orders;
  std::vector<OrderId> every_third;
  for (OrderId id = 1; id <= 1'000; ++id) orders.push_back(order(id, kStart + id * 1s));
  orders.push_back(order(1'000, kStart + 1h));  // the later of two wins
  for (OrderId id = 0; id <= 1'000; id += 3) every_third.push_back(id);
  EXPECT_EQ(wheel.schedule(orders), 1'001U);
  EXPECT_EQ(wheel.size(), 1'000U);
  EXPECT_EQ(wheel.cancel(every_third), 333U);
  EXPECT_EQ(wheel.size(), 667U);
  EXPECT_EQ(wheel.find(1'000)->due, kStart + 1h);
  EXPECT_EQ(wheel.check_invariants(), "");
}

TEST(TimingWheelBatch, AFullWheelTakesNoNewOrderInButKeepsAndMovesWhatItHolds) {
  TimingWheel wheel(kStart, 2);
  EXPECT_TRUE(wheel.schedule(order(1, kStart + 1s)));
  EXPECT_TRUE(wheel.schedule(order(2, kStart + 1s)));
  EXPECT_FALSE(wheel.schedule(order(3, kStart + 1s)));
  EXPECT_TRUE(wheel.schedule(order(2, kStart + 2s)));
  EXPECT_THAT(due_ids(wheel, kStart + 1s), ElementsAre(1));
  EXPECT_TRUE(wheel.schedule(order(3, kStart + 1s)));
  EXPECT_THAT(due_ids(wheel, kStart + 2s), ElementsAre(3, 2));
}

}  // namespace
}  // namespace order_timeout
