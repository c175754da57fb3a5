// Proves that no deadline is early, late or lost on a border between slots or windows of the wheel,
// nor at a distance or an uptime beyond the range that other wheels had (public reports beside the
// tests).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "order_timeout/wheel.hpp"
#include "support/wheel_orders.hpp"

namespace order_timeout {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

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
    const auto due = wheel.advance(now, {.orders = kAll});
    ASSERT_THAT(ids_of(due), UnorderedElementsAre(1, 2));
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
    EXPECT_THAT(due_ids(wheel, kNever), UnorderedElementsAre(3, 1));
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

}  // namespace
}  // namespace order_timeout
