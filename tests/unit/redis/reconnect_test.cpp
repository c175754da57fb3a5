// The waits between tries to connect double from 0.2 s to 5 s, with jitter on top, and begin anew
// after an answer.
#include "redis/reconnect.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace order_timeout::redis {
namespace {

using namespace std::chrono_literals;
const Reconnect::Now kNow = Reconnect::Now{} + 100h;

TEST(Reconnect, TriesAtOnceWhereNothingHasFailed) { EXPECT_EQ(Reconnect({}).wait_left(kNow), 0ms); }

TEST(Reconnect, WaitsTwiceAsLongEachTimeUpToFiveSeconds) {
  Reconnect reconnect({});
  for (const Duration wait : {200ms, 400ms, 800ms, 1600ms, 3200ms, 5000ms, 5000ms}) {
    reconnect.failed(kNow, 0);
    EXPECT_EQ(reconnect.wait_left(kNow), wait);
  }
}

TEST(Reconnect, AddsAtMostAFifth) {
  Reconnect reconnect({});
  reconnect.failed(kNow, 0.5);
  EXPECT_EQ(reconnect.wait_left(kNow), 220ms);
  reconnect.failed(kNow, 0.999);
  EXPECT_EQ(reconnect.wait_left(kNow), 479ms);
}

TEST(Reconnect, CountsDownAndNeverLetsATryComeEarly) {
  Reconnect reconnect({});
  reconnect.failed(kNow, 0);
  EXPECT_EQ(reconnect.wait_left(kNow + 199ms), 1ms);
  EXPECT_EQ(reconnect.wait_left(kNow + 199'500us), 1ms);
  EXPECT_EQ(reconnect.wait_left(kNow + 200ms), 0ms);
  EXPECT_EQ(reconnect.wait_left(kNow + 1h), 0ms);
}

TEST(Reconnect, BeginsAnewAfterAnAnswer) {
  Reconnect reconnect({});
  reconnect.failed(kNow, 0);
  reconnect.failed(kNow, 0);
  reconnect.succeeded();
  reconnect.failed(kNow, 0);
  EXPECT_EQ(reconnect.wait_left(kNow), 200ms);
}

}  // namespace
}  // namespace order_timeout::redis
