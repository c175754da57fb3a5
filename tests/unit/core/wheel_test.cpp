// Proves what the wheel promises, one claim a test: never early, never lost, never twice, in order,
// however the clock moves. Tests named for a bug class of other timer wheels have the public report
// beside them. Borders and ends of the range are in wheel_borders_test.cpp; wheel_model_test.cpp
// does all of it at random.
#include "order_timeout/wheel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <vector>

#include "support/wheel_orders.hpp"

namespace order_timeout {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(TimingWheel, FiresNothingEarlierThanItsTick) {
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kStart + 30min));
  EXPECT_THAT(due_ids(wheel, kStart + 30min - 1ms), IsEmpty());
  EXPECT_THAT(due_ids(wheel, kStart + 30min), ElementsAre(1));
}

TEST(TimingWheel, GivesAnOrderBackAsItWasScheduled) {
  TimingWheel wheel(kStart);
  const TrackedOrder held{.id = 7, .due = kStart + 1s, .version = 3, .source = Source::redis};
  wheel.schedule(held);
  EXPECT_EQ(wheel.find(7), held);
  EXPECT_THAT(take_due(wheel, kStart + 1s, kAll), ElementsAre(held));
  EXPECT_EQ(wheel.find(7), std::nullopt);
}

TEST(TimingWheel, ReturnsDueOrdersByDeadline) {
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kStart + 2h));
  wheel.schedule(order(2, kStart + 10ms));
  wheel.schedule(order(3, kStart + 2h));
  wheel.schedule(order(4, kStart + 70s));
  EXPECT_THAT(due_ids(wheel, kStart + 1h), ElementsAre(2, 4));
  wheel.schedule(order(5, kStart + 2h));
  EXPECT_THAT(due_ids(wheel, kStart + 2h), UnorderedElementsAre(1, 3, 5));
}

TEST(TimingWheel, ReturnsOverdueOrdersNextAsTheyWereScheduled) {
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kStart + 1ms));
  wheel.schedule(order(2, kStart - 5s));
  wheel.schedule(order(3, kStart - kYear));
  wheel.schedule(order(4, kAlways));
  EXPECT_THAT(due_ids(wheel, kStart + 1ms), ElementsAre(2, 3, 4, 1));
}

// A batch that was given back is behind the others that are due: it cannot keep them from coming.
TEST(TimingWheel, PutsWhatIsGivenBackBehindWhatIsDue) {
  TimingWheel wheel(kStart);
  for (OrderId id = 1; id <= 100; ++id) wheel.schedule(order(id, kStart));
  const auto first = take_due(wheel, kStart, 40);
  for (const TrackedOrder& one : first) wheel.schedule(one);
  const auto next = due_ids(wheel, kStart, 60);
  EXPECT_THAT(next, testing::Each(testing::Gt(40)));
}

TEST(TimingWheel, CancelsOverdueOrders) {
  TimingWheel wheel(kStart);
  for (OrderId id : {1, 2, 3}) wheel.schedule(order(id, kStart - 5s));
  EXPECT_TRUE(wheel.cancel(2));
  EXPECT_TRUE(wheel.cancel(1));
  EXPECT_EQ(wheel.check_invariants(), "");
  EXPECT_THAT(due_ids(wheel, kStart), ElementsAre(3));
}

TEST(TimingWheel, ResumesWithinATickAndBetweenTicks) {
  TimingWheel wheel(kStart);
  for (OrderId id : {1, 2, 3}) wheel.schedule(order(id, kStart + 1s));
  for (OrderId id : {4, 5}) wheel.schedule(order(id, kStart + 2h));
  const Instant now = kStart + 3h;
  EXPECT_THAT(due_ids(wheel, now, 2), ElementsAre(1, 2));
  EXPECT_THAT(due_ids(wheel, now, 1), ElementsAre(3));
  EXPECT_THAT(due_ids(wheel, now, 1), ElementsAre(4));
  EXPECT_THAT(due_ids(wheel, now, 2), ElementsAre(5));
}

TEST(TimingWheel, PutsWhatIsScheduledBetweenTwoCallsInItsPlaceAmongTheLeftOver) {
  TimingWheel wheel(kStart);
  for (OrderId id : {1, 2, 3}) wheel.schedule(order(id, kStart + id * 10s));
  EXPECT_THAT(due_ids(wheel, kStart + 1h, 1), ElementsAre(1));
  wheel.schedule(order(4, kStart + 25s));
  wheel.schedule(order(5, kStart + 5s));
  wheel.schedule(order(6, kStart + 20s));
  EXPECT_THAT(due_ids(wheel, kStart + 1h), ElementsAre(5, 2, 6, 4, 3));
}

TEST(TimingWheel, TakesNothingOutWithABoundOfZeroButRemembersTheTime) {
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kStart + 1s));
  EXPECT_THAT(due_ids(wheel, kStart + 1s, 0), IsEmpty());
  EXPECT_THAT(due_ids(wheel, kStart), ElementsAre(1));
}

TEST(TimingWheel, HoldsOneTimerForEachOrderHoweverOftenItIsScheduled) {
  // Overwritten without a cancel: leaked and fired twice (github.com/apache/hertzbeat/pull/4201).
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kStart + 1h));
  wheel.schedule(order(1, kStart + 2h));
  wheel.schedule(order(1, kStart + 3h));
  wheel.schedule(order(1, kStart + 1min));
  EXPECT_EQ(wheel.size(), 1U);
  EXPECT_THAT(due_ids(wheel, kStart + 1min), ElementsAre(1));
  EXPECT_THAT(due_ids(wheel, kStart + kYear), IsEmpty());
}

TEST(TimingWheel, NeverFiresALaterDeadlineAtTheEarlierOne) {
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kStart + 1s));
  wheel.schedule(order(1, kStart + 1h));
  EXPECT_THAT(due_ids(wheel, kStart + 1h - 1ms), IsEmpty());
  EXPECT_THAT(due_ids(wheel, kStart + 1h), ElementsAre(1));
}

TEST(TimingWheel, TakesAnyOrderId) {
  constexpr OrderId kLeast = std::numeric_limits<OrderId>::min();
  constexpr OrderId kMost = std::numeric_limits<OrderId>::max();
  TimingWheel wheel(kStart);
  for (OrderId id : {kLeast, OrderId{-1}, OrderId{0}, kMost})
    wheel.schedule(order(id, kStart + 1s));
  EXPECT_TRUE(wheel.cancel(-1));
  EXPECT_THAT(due_ids(wheel, kStart + 1s), ElementsAre(kLeast, 0, kMost));
}

// --- Clock jumps -----------------------------------------------------------------------------

TEST(TimingWheelClock, AStepBackPopsNothing) {
  // All timers popped: github.com/Metaswitch/chronos/issues/85.
  TimingWheel wheel(kStart);
  for (OrderId id = 1; id <= 100; ++id) wheel.schedule(order(id, kStart + id * 1min));
  EXPECT_THAT(due_ids(wheel, kStart + 10min), SizeIs(10));
  EXPECT_THAT(due_ids(wheel, kStart - kYear), IsEmpty());
  EXPECT_THAT(due_ids(wheel, kStart + 10min), IsEmpty());
  EXPECT_THAT(due_ids(wheel, kStart + 11min), ElementsAre(11));
}

TEST(TimingWheelClock, ATimeBeforeTheWheelsReturnsWhatIsLeftOver) {
  TimingWheel wheel(kStart);
  for (OrderId id : {1, 2, 3}) wheel.schedule(order(id, kStart + id * 1min));
  EXPECT_THAT(due_ids(wheel, kStart + 2min, 1), ElementsAre(1));
  EXPECT_THAT(due_ids(wheel, kStart, kAll), ElementsAre(2));
}

TEST(TimingWheelClock, OneCallCatchesUpWithEveryTickThatWasMissed) {
  // One tick a call, users fell behind: github.com/camunda/camunda/issues/767.
  TimingWheel wheel(kStart);
  std::vector<OrderId> expected;
  for (OrderId id = 1; id <= 3'000; ++id) {
    wheel.schedule(order(id, kStart + id * 37s));
    expected.push_back(id);
  }
  EXPECT_EQ(due_ids(wheel, kStart + 2 * kDay), expected);
}

TEST(TimingWheelClock, MoreOrdersThanTheBoundComeInBatchesAfterAJump) {
  // Overran its batch: github.com/reactos/reactos/pull/9507.
  TimingWheel wheel(kStart);
  for (OrderId id = 0; id < 10'000; ++id) wheel.schedule(order(id, kStart + (id % 100) * 1min));
  std::size_t taken = 0;
  Instant last = kAlways;
  for (auto due = take_due(wheel, kStart + kDay, 64); !due.empty();
       due = take_due(wheel, kStart + kDay, 64)) {
    ASSERT_LE(due.size(), 64U);
    for (const TrackedOrder& one : due) {
      ASSERT_GE(one.due, last);
      last = one.due;
    }
    taken += due.size();
  }
  EXPECT_EQ(taken, 10'000U);
}

TEST(TimingWheelClock, EmptyTimeCostsNothing) {
  // A loop over the ticks of 10,000 times ten years would take hours.
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kStart + 200'000 * kYear));
  const auto began = std::chrono::steady_clock::now();
  Instant now = kStart;
  for (int jump = 0; jump < 10'000; ++jump) {
    now += 10 * kYear;
    ASSERT_THAT(take_due(wheel, now, 1), IsEmpty());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1s);
}

// --- Cancelling round an advance --------------------------------------------------------------

TEST(TimingWheelCancel, AnOrderCancelledBetweenTwoBatchesOfItsTickDoesNotComeOut) {
  // Still ran: github.com/chenshuo/muduo/issues/668; broke the list:
  // github.com/npatrick04/timer-wheel/pull/2.
  TimingWheel wheel(kStart);
  for (OrderId id : {1, 2, 3}) wheel.schedule(order(id, kStart + 1s));
  EXPECT_THAT(due_ids(wheel, kStart + 1s, 1), ElementsAre(1));
  EXPECT_TRUE(wheel.cancel(2));
  EXPECT_THAT(due_ids(wheel, kStart + 1s), ElementsAre(3));
}

TEST(TimingWheelCancel, AnOrderTakenOutCanNeitherBeCancelledNorCountedTwice) {
  // Decremented twice: github.com/netty/netty/issues/14959; negative gauge:
  // github.com/apache/rocketmq/issues/7381.
  TimingWheel wheel(kStart);
  for (OrderId id : {1, 2}) wheel.schedule(order(id, kStart + 1s));
  EXPECT_THAT(due_ids(wheel, kStart + 1s, 1), ElementsAre(1));
  EXPECT_FALSE(wheel.cancel(1));
  EXPECT_EQ(wheel.size(), 1U);
  EXPECT_TRUE(wheel.cancel(2));
  EXPECT_FALSE(wheel.cancel(2));
  EXPECT_EQ(wheel.size(), 0U);
}

TEST(TimingWheelCancel, AnOrderScheduledAgainAfterACancelIsNotLost) {
  // Lost: github.com/scylladb/seastar/issues/3013; panicked:
  // github.com/tokio-rs/tokio/issues/868.
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kStart + 1s));
  EXPECT_TRUE(wheel.cancel(1));
  wheel.schedule(order(1, kStart + 1s));
  wheel.schedule(order(1, kStart + 2s));
  EXPECT_THAT(due_ids(wheel, kStart + 2s), ElementsAre(1));
  wheel.schedule(order(1, kStart + 3s));
  EXPECT_THAT(due_ids(wheel, kStart + 3s), ElementsAre(1));
}

// --- Memory and sleeping ----------------------------------------------------------------------

TEST(TimingWheelMemory, AHundredThousandOrdersTakeUnderAHundredBytesEach) {
  TimingWheel wheel(kStart);
  for (OrderId id = 0; id < 100'000; ++id) wheel.schedule(order(id, kStart + id * 1ms));
  EXPECT_LT(wheel.memory_bytes(), 70U * 100'000U);
  EXPECT_GT(wheel.memory_bytes(), 36U * 100'000U);
}

TEST(TimingWheelSleep, ASleeperWakesInTimeAndSeldomForNothing) {
  for (const Duration ahead : {Duration{1ms}, Duration{30min}, Duration{400 * kDay}}) {
    TimingWheel wheel(kStart);
    wheel.schedule(order(1, kStart + ahead));
    int wakes = 0;
    std::vector<OrderId> due;
    while (due.empty()) {
      const auto wake = wheel.next_due();
      ASSERT_TRUE(wake.has_value());
      ASSERT_LE(*wake, kStart + ahead);
      due = due_ids(wheel, *wake);
      ASSERT_LE(++wakes, 8);  // one a level
    }
    EXPECT_EQ(wheel.next_due(), std::nullopt);
  }
}

TEST(TimingWheelSleep, TheNextDueOfALeftOverOrderIsItsOwn) {
  TimingWheel wheel(kStart);
  for (OrderId id : {1, 2}) wheel.schedule(order(id, kStart + 1s));
  wheel.schedule(order(3, kStart - 1s));
  EXPECT_EQ(wheel.next_due(), kStart - 1s);
  EXPECT_THAT(due_ids(wheel, kStart + kDay, 2), ElementsAre(3, 1));
  EXPECT_EQ(wheel.next_due(), kStart + 1s);
}

}  // namespace
}  // namespace order_timeout
