// Proves what Redis may do and what it may not: its reminders find orders and give them more time,
// within bounds and until the last moment; they never hasten a close, and what a shop writes there
// after the close stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/daemon_process.hpp"
#include "support/redis_server.hpp"
#include "support/shop_fixture.hpp"

namespace order_timeout::testing {
namespace {

using test::RedisServer;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kZset = "delay:close:order";
// Nothing but Redis finds an order in time.
const std::string kOnlyRedis = "discovery: {poll_interval: 1h}\nsweep: {catch_up_interval: 1d}\n";

class Reminders : public ShopFixture {
 protected:
  std::string redis_section(const std::string& more) const {
    return "redis: {url: \"" + redis_.url() + "\", " + more + "}\n";
  }
  double now_ms() {
    return std::stod(shop_.value("select floor(extract(epoch from clock_timestamp()) * 1000)"));
  }
  static std::string at_ms(double ms) {
    return "to_timestamp(" + std::to_string(static_cast<std::int64_t>(ms)) + " / 1000.0)";
  }
  static std::string order_no(std::int64_t id) { return "SO" + std::to_string(id); }

  RedisServer redis_;
};

TEST_F(Reminders, FindOrdersByNumberAndMilliseconds) {
  DaemonProcess daemon(
      {.database_url = url(), .extra = kOnlyRedis + redis_section("poll_interval: 100ms")});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const double created = now_ms();
  const PlacedOrders placed = place_orders(20, "default", at_ms(created));
  for (auto id = placed.first; id <= placed.last; ++id) {
    redis_.zadd(kZset, created + 1'000, order_no(id));
  }
  EXPECT_TRUE(await_released(20));
  EXPECT_TRUE(await([&] { return redis_.zcard(kZset) == 0; })) << "members stay after the close";
  expect_books_balance();
  EXPECT_THAT(daemon.audit_text(), HasSubstr("source=redis"));
}

TEST_F(Reminders, FindOrdersByIdAndSeconds) {
  DaemonProcess daemon(
      {.database_url = url(),
       .extra = kOnlyRedis + redis_section("poll_interval: 100ms, member: id, score: seconds")});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const double created = now_ms();
  const PlacedOrders placed = place_orders(20, "default", at_ms(created));
  for (auto id = placed.first; id <= placed.last; ++id) {
    redis_.zadd(kZset, std::floor(created / 1'000) + 1, std::to_string(id));
  }
  EXPECT_TRUE(await_released(20));
  EXPECT_TRUE(await([&] { return redis_.zcard(kZset) == 0; }));
  expect_books_balance();
  EXPECT_THAT(daemon.audit_text(), HasSubstr("source=redis"));
}

// Due two seconds after creation; Redis says 2 s more, an hour more (3 s is the most that counts),
// and an hour less.
TEST_F(Reminders, DelayWithinTheExtensionAndNeverHasten) {
  DaemonProcess daemon({.database_url = url(),
                        .lines = {{"default", "{timeout: 2s, grace: 0s}"}},
                        .extra = redis_section("poll_interval: 100ms, max_extension: 3s")});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const double created = now_ms();
  redis_.zadd(kZset, created + 4'000, order_no(1));
  redis_.zadd(kZset, created + 3'600'000, order_no(2));
  redis_.zadd(kZset, created - 3'600'000, order_no(3));
  ASSERT_EQ(place_orders(3, "default", at_ms(created)).first, 1);
  EXPECT_TRUE(await_released(3));
  expect_books_balance(
      "o.created_at + case o.id when 1 then interval '4 seconds' when 2 then"
      " interval '5 seconds' else interval '2 seconds' end");
  EXPECT_LT(lateness("o.created_at + interval '5 seconds'").max_ms, 10'000)
      << "the extension has no bound";
}

// Seconds where milliseconds are meant, both infinities, the year 50000, microseconds, zero and
// less: none of them is a time that counts, so the database's deadline does.
TEST_F(Reminders, OddScoresNeitherHastenNorDelay) {
  DaemonProcess daemon({.database_url = url(),
                        .lines = {{"default", "{timeout: 2s, grace: 0s}"}},
                        .extra = redis_section("poll_interval: 100ms, max_extension: 1h")});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const double created = now_ms();
  const auto whole = [](double number) {
    return std::to_string(static_cast<std::int64_t>(number));
  };
  const std::vector<std::string> scores = {
      whole(created / 1'000 + 3'600), "inf", "-inf",           "1515696000000000",
      whole(created * 1'000),         "0",   "-1700000000000", "1e300"};
  std::int64_t id = 0;
  for (const std::string& score : scores) redis_.command({"ZADD", kZset, score, order_no(++id)});
  ASSERT_EQ(place_orders(static_cast<int>(scores.size()), "default", at_ms(created)).first, 1);
  EXPECT_TRUE(await_released(id));
  expect_books_balance("o.created_at + interval '2 seconds'");
  EXPECT_LT(lateness("o.created_at + interval '2 seconds'").max_ms, 10'000);
}

TEST_F(Reminders, RaisedInTheLastSecondStillDelay) {
  DaemonProcess daemon({.database_url = url(),
                        .lines = {{"default", "{timeout: 3s, grace: 0s}"}},
                        .extra = redis_section("poll_interval: 100ms")});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  bool raised_in_time = false;
  double raised_to = 0;
  std::int64_t id = 0;
  for (int tries = 0; tries < 5 && !raised_in_time; ++tries) {
    const double created = now_ms();
    id = place_order(at_ms(created));
    redis_.zadd(kZset, created + 3'000, order_no(id));
    ASSERT_TRUE(await([&] { return now_ms() >= created + 2'300; }));
    raised_to = created + 5'000;
    redis_.zadd(kZset, raised_to, order_no(id));
    raised_in_time = now_ms() < created + 2'950;  // else the machine stalled: another order
  }
  ASSERT_TRUE(raised_in_time);
  EXPECT_TRUE(await([&] { return status_of(id) == "CLOSED"; }));
  expect_none_early("case o.id when " + std::to_string(id) + " then " + at_ms(raised_to) +
                    " else o.created_at + interval '3 seconds' end");
}

// Members are removed in the round after the close, three seconds apart; in between the shop
// writes one of them anew.
TEST_F(Reminders, WrittenAnewAfterTheCloseAreNotRemoved) {
  DaemonProcess daemon({.database_url = url(), .extra = redis_section("poll_interval: 3s")});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  ASSERT_TRUE(daemon.await_log("redis: up"));
  bool written_in_time = false;
  for (int tries = 0; tries < 5 && !written_in_time; ++tries) {
    const double created = now_ms();
    const PlacedOrders placed = place_orders(2, "default", at_ms(created));
    for (const auto id : {placed.first, placed.last}) {
      redis_.zadd(kZset, created + 1'000, order_no(id));
    }
    ASSERT_TRUE(await_count("t_order where status = 'CLOSED'", placed.last));
    const std::string again = std::to_string(static_cast<std::int64_t>(created) + 3'600'000);
    redis_.command({"ZADD", kZset, "XX", again, order_no(placed.first)});
    written_in_time = redis_.zscore(kZset, order_no(placed.first)) != "(nil)" &&
                      redis_.zscore(kZset, order_no(placed.last)) != "(nil)";
    if (!written_in_time) continue;  // the round came before the shop's word
    EXPECT_TRUE(await([&] { return redis_.zscore(kZset, order_no(placed.last)) == "(nil)"; }));
    EXPECT_NE(redis_.zscore(kZset, order_no(placed.first)), "(nil)");
  }
  EXPECT_TRUE(written_in_time);
}

}  // namespace
}  // namespace order_timeout::testing
