// Proves what the wheel promises, one claim a test: never early, never lost, never twice, in order,
// whatever the due instants and however the clock moves. Many tests are named for a bug class of
// other timer wheels, with the public report beside it. wheel_model_test.cpp does the same at
// random.
#include "order_timeout/wheel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <vector>

namespace order_timeout {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr Duration kDay = 24h;
constexpr Duration kYear = 365 * kDay;
constexpr Instant kStart = instant_from_ms(1'796'000'000'123);  // a day in 2026, on no border

TrackedOrder order(OrderId id, Instant due) { return {.id = id, .due = due}; }

std::vector<OrderId> ids_of(const std::vector<TrackedOrder>& orders) {
  std::vector<OrderId> ids;
  for (const TrackedOrder& one : orders) ids.push_back(one.id);
  return ids;
}

std::vector<OrderId> due_ids(TimingWheel& wheel, Instant now, std::size_t max = kAll) {
  return ids_of(wheel.advance(now, max));
}

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
  EXPECT_THAT(wheel.advance(kStart + 1s, kAll), ElementsAre(held));
  EXPECT_EQ(wheel.find(7), std::nullopt);
}

TEST(TimingWheel, ReturnsDueOrdersByDeadlineAndTiesAsScheduled) {
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kStart + 2h));
  wheel.schedule(order(2, kStart + 10ms));
  wheel.schedule(order(3, kStart + 2h));
  wheel.schedule(order(4, kStart + 70s));
  EXPECT_THAT(due_ids(wheel, kStart + 1h), ElementsAre(2, 4));
  wheel.schedule(order(5, kStart + 2h));  // its tick is nearer now, yet it is the last of it
  EXPECT_THAT(due_ids(wheel, kStart + 2h), ElementsAre(1, 3, 5));
}

TEST(TimingWheel, ReturnsOverdueOrdersFirstAndByDeadline) {
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kStart));
  wheel.schedule(order(2, kStart - 5s));
  wheel.schedule(order(3, kStart - kYear));
  wheel.schedule(order(4, kAlways));
  wheel.schedule(order(5, kStart - 5s));
  EXPECT_THAT(due_ids(wheel, kStart), ElementsAre(4, 3, 2, 5, 1));
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

TEST(TimingWheel, MovesARescheduledOrderBehindItsTick) {
  TimingWheel wheel(kStart);
  for (OrderId id : {1, 2}) wheel.schedule(order(id, kStart + 1h));
  wheel.schedule(order(1, kStart + 1h));
  EXPECT_THAT(due_ids(wheel, kStart + 1h), ElementsAre(2, 1));
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

// --- Borders of slots and levels -------------------------------------------------------------

TEST(TimingWheelBorders, ADeadlineEqualToTheWheelsTimeAfterAnExpiryIsDueAtOnce) {
  // Panicked: github.com/tokio-rs/tokio/issues/2473.
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kStart + 64ms));
  EXPECT_THAT(due_ids(wheel, kStart + 64ms), ElementsAre(1));
  wheel.schedule(order(2, kStart + 64ms));
  EXPECT_THAT(due_ids(wheel, kStart + 64ms), ElementsAre(2));
}

TEST(TimingWheelBorders, EveryDistanceRoundABorderFiresOnItsTick) {
  // Waited too long at borders: github.com/tokio-rs/tokio/issues/849; a tick short:
  // github.com/Yiling-J/theine-go/issues/64.
  for (const std::int64_t start : {0LL, 1LL, 255LL, 256LL, 65'535LL, 1'796'000'000'123LL}) {
    for (int bits = 1; bits <= 48; ++bits) {
      for (const std::int64_t beside : {-1, 0, 1}) {
        TimingWheel wheel(instant_from_ms(start));
        const std::int64_t due = start + (std::int64_t{1} << bits) + beside;
        wheel.schedule(order(1, instant_from_ms(due)));
        ASSERT_THAT(due_ids(wheel, instant_from_ms(due - 1)), IsEmpty()) << start << " + " << due;
        ASSERT_THAT(due_ids(wheel, instant_from_ms(due)), ElementsAre(1)) << start << " + " << due;
      }
    }
  }
}

TEST(TimingWheelBorders, OrdersInTheFirstSlotOfALevelCanBeCancelledAfterTimeHasMoved) {
  // Panicked: github.com/tokio-rs/tokio/pull/3270.
  TimingWheel wheel(instant_from_ms(1));
  for (OrderId id : {1, 2, 3}) wheel.schedule(order(id, instant_from_ms(65'536)));
  EXPECT_THAT(due_ids(wheel, instant_from_ms(65'535)), IsEmpty());
  EXPECT_TRUE(wheel.cancel(1));
  EXPECT_TRUE(wheel.cancel(3));
  EXPECT_EQ(wheel.check_invariants(), "");
  EXPECT_THAT(due_ids(wheel, instant_from_ms(65'536)), ElementsAre(2));
}

TEST(TimingWheelBorders, ALaterOrderOnACoarseLevelHidesNoEarlierOne) {
  // Hid it: github.com/glommio/glommio/pull/44.
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kStart + 10min));
  EXPECT_THAT(due_ids(wheel, kStart + 9min), IsEmpty());
  wheel.schedule(order(2, kStart + 9min + 30s));
  EXPECT_THAT(due_ids(wheel, kStart + 9min + 30s), ElementsAre(2));
  EXPECT_THAT(due_ids(wheel, kStart + 10min), ElementsAre(1));
}

TEST(TimingWheelBorders, AnOrderPutBackIntoTheTickBeingTakenComesOncePerCall) {
  // Handled for ever: github.com/tgstation/tgstation/pull/38994; starved the loop:
  // github.com/openweave/openweave-core/pull/54.
  TimingWheel wheel(kStart);
  for (OrderId id : {1, 2}) wheel.schedule(order(id, kStart + 256ms));
  const Instant now = kStart + 256ms;
  for (int call = 0; call < 100; ++call) {
    const auto due = wheel.advance(now, kAll);
    ASSERT_THAT(ids_of(due), ElementsAre(1, 2));
    for (const TrackedOrder& again : due) wheel.schedule(again);
  }
  EXPECT_EQ(wheel.size(), 2U);
}

TEST(TimingWheelBorders, ASlotIsEmptyAfterItHasFired) {
  // The next turn of the wheel fired it again, in the sketch that the requirements warn of.
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kStart + 5ms));
  EXPECT_THAT(due_ids(wheel, kStart + 5ms), ElementsAre(1));
  for (Duration turn = 256ms; turn < kYear; turn *= 16) {
    EXPECT_THAT(due_ids(wheel, kStart + 5ms + turn), IsEmpty());
  }
}

// --- Beyond the range ------------------------------------------------------------------------

TEST(TimingWheelRange, DistantDeadlinesAreKeptAndNeverEarly) {
  // Early: github.com/twitter/rpc-perf/pull/180; refused over 2.1 years:
  // github.com/restatedev/restate/pull/5017.
  for (const Duration ahead : {400 * kDay, 800 * kDay, 3 * kYear, 1'000 * kYear, 250'000 * kYear}) {
    TimingWheel wheel(kStart);
    wheel.schedule(order(1, kStart + ahead));
    wheel.schedule(order(2, kStart + 1s));
    EXPECT_THAT(due_ids(wheel, kStart + ahead / 2), ElementsAre(2));
    EXPECT_THAT(due_ids(wheel, kStart + ahead - 1ms), IsEmpty());
    EXPECT_THAT(due_ids(wheel, kStart + ahead), ElementsAre(1));
  }
}

TEST(TimingWheelRange, TakesOrdersAfterAnyUptime) {
  // Every insert panicked after 2^36 ms: github.com/tokio-rs/tokio/issues/5536; lists corrupted
  // after 12 days: github.com/tokio-rs/tokio/pull/8334.
  TimingWheel wheel(instant_from_ms(0));
  OrderId id = 0;
  for (int bits = 20; bits < 62; ++bits) {
    const Instant now = instant_from_ms(std::int64_t{1} << bits);
    EXPECT_THAT(due_ids(wheel, now - 1ms), IsEmpty());
    wheel.schedule(order(++id, now - 1ms));
    wheel.schedule(order(++id, now + 1s));
    EXPECT_EQ(wheel.check_invariants(), "");
    EXPECT_THAT(due_ids(wheel, now), ElementsAre(id - 1));
    EXPECT_THAT(due_ids(wheel, now + 1s), ElementsAre(id));
  }
}

TEST(TimingWheelRange, NothingOverflowsAtTheEndsOfTheClock) {
  // Overflow fired early or at once: github.com/netty/netty/pull/7765,
  // github.com/apache/rocketmq/issues/10872.
  for (const Instant start : {kAlways, kAlways + 1ms, instant_from_ms(-1), instant_from_ms(0)}) {
    TimingWheel wheel(start);
    wheel.schedule(order(1, kNever - 1ms));
    wheel.schedule(order(2, kAlways));
    EXPECT_THAT(due_ids(wheel, start), ElementsAre(2));
    EXPECT_THAT(due_ids(wheel, kNever - 2ms), IsEmpty());
    EXPECT_THAT(due_ids(wheel, kNever - 1ms), ElementsAre(1));
  }
}

TEST(TimingWheelRange, AWheelThatStartsAtTheLastInstantWorks) {
  for (const Instant start : {kNever - 1ms, kNever}) {
    TimingWheel wheel(start);
    wheel.schedule(order(1, kNever - 1ms));
    wheel.schedule(order(2, kNever));
    wheel.schedule(order(3, kStart));
    EXPECT_EQ(wheel.check_invariants(), "");
    EXPECT_THAT(due_ids(wheel, kNever), ElementsAre(3, 1));
    EXPECT_EQ(wheel.next_due(), std::nullopt);
  }
}

TEST(TimingWheelRange, DueNeverIsHeldAndNeverComesOut) {
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kNever));
  EXPECT_EQ(wheel.next_due(), std::nullopt);
  EXPECT_THAT(due_ids(wheel, kNever), IsEmpty());
  EXPECT_EQ(wheel.size(), 1U);
  EXPECT_EQ(wheel.check_invariants(), "");
  EXPECT_TRUE(wheel.cancel(1));
}

TEST(TimingWheelRange, AnOrderDueNeverCanBecomeDueAndBack) {
  TimingWheel wheel(kStart);
  wheel.schedule(order(1, kNever));
  wheel.schedule(order(2, kStart + 1s));
  wheel.schedule(order(1, kStart + 1s));
  wheel.schedule(order(2, kNever));
  EXPECT_THAT(due_ids(wheel, kStart + kYear), ElementsAre(1));
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
  for (auto due = wheel.advance(kStart + kDay, 64); !due.empty();
       due = wheel.advance(kStart + kDay, 64)) {
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
    ASSERT_THAT(wheel.advance(now, 1), IsEmpty());
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

TEST(TimingWheelMemory, CancelledAndFiredOrdersLeaveNothingBehind) {
  // Kept until their slot came round: github.com/netty/netty/pull/2561.
  TimingWheel wheel(kStart);
  wheel.schedule(order(0, kNever));
  const std::size_t before = wheel.memory_bytes();
  for (OrderId id = 1; id <= 200'000; ++id) {
    wheel.schedule(order(id, kStart + (id % 3 - 1) * 30min));
    if (id % 2 == 0) wheel.cancel(id);
    if (id % 16 == 0) wheel.advance(kStart + 30min, kAll);
  }
  EXPECT_EQ(wheel.memory_bytes(), before);
  EXPECT_EQ(wheel.check_invariants(), "");
}

TEST(TimingWheelMemory, AHundredThousandOrdersTakeUnderAHundredBytesEach) {
  TimingWheel wheel(kStart);
  for (OrderId id = 0; id < 100'000; ++id) wheel.schedule(order(id, kStart + id * 1ms));
  EXPECT_LT(wheel.memory_bytes(), 100U * 100'000U);
  EXPECT_GT(wheel.memory_bytes(), 48U * 100'000U);
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
