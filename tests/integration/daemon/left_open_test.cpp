// Proves what the running daemon leaves open: orders of lines that are not to be closed, paid,
// held, paused and extended ones, and those with evidence of payment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/daemon_process.hpp"
#include "support/shop_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class LeavingOpen : public ShopFixture {
 protected:
  bool await_closed(std::int64_t id) {
    return await([&] { return status_of(id) == "CLOSED"; });
  }
  // Orders placed so long after `id` that it would be closed by now if it were to be.
  void let_others_close(int rounds = 2) {
    for (int i = 0; i < rounds; ++i) ASSERT_TRUE(await_closed(place_order()));
  }
};

TEST_F(LeavingOpen, LinesForReviewShadowedIgnoredAndUnlisted) {
  const std::string closing = "{timeout: 1s, grace: 0s}";
  DaemonProcess daemon({.database_url = url(),
                        .lines = {{"normal", closing},
                                  {"hotel", "{timeout: 1s, grace: 0s, action: review}"},
                                  {"trial", "{timeout: 1s, grace: 0s, action: shadow}"},
                                  {"off", "{timeout: 1s, grace: 0s, action: ignore}"}}});
  const char* const kLines[] = {"hotel", "trial", "off", "unlisted", ""};
  for (const char* line : kLines) place_orders(3, line, "now() - interval '1 hour'");
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  for (const char* line : kLines) place_orders(3, line);
  EXPECT_TRUE(await_count("order_timeout.review where decision = 'WAITING'", 6));
  EXPECT_TRUE(await_count("order_timeout.shadow_decision where decision = 'closed'", 6));
  for (int rounds = 0; rounds < 2; ++rounds) {
    ASSERT_TRUE(await_closed(place_order("clock_timestamp()", "normal")));
  }
  EXPECT_EQ(count("t_order where status <> 'WAIT_PAY' and biz_line is distinct from 'normal'"), 0);
  EXPECT_THAT(daemon.audit_text(), HasSubstr("for_review"));
  EXPECT_THAT(daemon.audit_text(), HasSubstr("shadowed"));
}

TEST_F(LeavingOpen, PaidOrders) {
  DaemonProcess daemon({.database_url = url(), .lines = {{"default", "{timeout: 2s, grace: 0s}"}}});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const PlacedOrders placed = place_orders(100);
  shop_.exec("update t_order set status = 'PAID' where id % 2 = 0 and status = 'WAIT_PAY'");
  const auto paid = count("t_order where status = 'PAID'");
  ASSERT_GT(paid, 0);
  EXPECT_TRUE(await_count("t_order where status = 'CLOSED'", 100 - paid));
  ASSERT_TRUE(await_closed(place_order()));
  EXPECT_EQ(count("t_order where status = 'PAID'"), paid);
  EXPECT_TRUE(await_released(101 - paid));
  expect_books_balance("o.created_at + interval '2 seconds'");
  EXPECT_GE(placed.last, 100);
}

TEST_F(LeavingOpen, AnOrderWithAPaymentThatItsStatusDoesNotKnowIsHeld) {
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  shop_.begin();
  const auto id = place_order();
  const std::string text = std::to_string(id);
  shop_.exec("insert into t_payment (payment_id, order_id, status) values ('P1', " + text +
             ", 'SUCCESS')");
  shop_.commit();
  EXPECT_TRUE(await_count(
      "order_timeout.hold where \"by\" = 'payment_evidence' and order_id = " + text, 1));
  let_others_close();
  EXPECT_EQ(status_of(id), "WAIT_PAY");
  EXPECT_TRUE(daemon.await_audit("payment_evidence"));
}

TEST_F(LeavingOpen, HeldOrders) {
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  shop_.begin();
  const auto id = place_order();
  shop_.exec("insert into order_timeout.hold (order_id, reason, \"by\") values (" +
             std::to_string(id) + ", 'fraud check', 'kim')");
  shop_.commit();
  EXPECT_TRUE(daemon.await_audit("held"));
  let_others_close();
  EXPECT_EQ(status_of(id), "WAIT_PAY");
}

TEST_F(LeavingOpen, PausedLinesUntilTheyAreResumed) {
  shop_.exec(
      "insert into order_timeout.pause (scope, \"by\", reason) values ('line:promo', 'kim',"
      " 'sale')");
  DaemonProcess daemon(
      {.database_url = url(), .lines = {{"default", "{timeout: 1s, grace: 0s}"}, {"promo", "{}"}}});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const PlacedOrders paused = place_orders(20, "promo");
  let_others_close();
  EXPECT_EQ(count("t_order where status = 'CLOSED' and biz_line = 'promo'"), 0);
  shop_.exec("delete from order_timeout.pause");
  EXPECT_TRUE(await_count("t_order where status = 'CLOSED' and biz_line = 'promo'", 20));
  EXPECT_GT(paused.last, 0);
  expect_none_early();
}

TEST_F(LeavingOpen, EverythingWhileAllIsPaused) {
  shop_.exec(
      "insert into order_timeout.pause (scope, \"by\", reason) values ('all', 'kim', 'stop')");
  place_orders(20, "default", "now() - interval '1 hour'");
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  EXPECT_TRUE(daemon.await_audit("paused"));
  EXPECT_EQ(count("t_order where status = 'CLOSED'"), 0);
  shop_.exec("delete from order_timeout.pause");
  EXPECT_TRUE(await_released(20));
  expect_books_balance();
}

// The first override is there before the order is found, the second comes when it waits in the
// wheel.
TEST_F(LeavingOpen, OrdersWithALaterDeadlineOfTheirOwn) {
  DaemonProcess daemon({.database_url = url(), .lines = {{"default", "{timeout: 2s, grace: 0s}"}}});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const std::string set_deadline =
      "insert into order_timeout.deadline_override (order_id, deadline, reason) select id,"
      " created_at + interval '4 seconds', 'asked' from t_order where id = ";
  shop_.begin();
  const auto early = place_order();
  shop_.exec(set_deadline + std::to_string(early));
  shop_.commit();
  const auto late = place_order();
  shop_.exec(set_deadline + std::to_string(late));
  const auto plain = place_order();
  EXPECT_TRUE(await_closed(plain));
  EXPECT_TRUE(await_closed(early));
  EXPECT_TRUE(await_closed(late));
  expect_none_early(
      "coalesce((select d.deadline from order_timeout.deadline_override d where"
      " d.order_id = o.id), o.created_at + interval '2 seconds')");
}

}  // namespace
}  // namespace order_timeout::testing
