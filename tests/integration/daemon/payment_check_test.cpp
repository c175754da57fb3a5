// Proves that the payment gateway's word is asked for and heeded before a close: none closes, in
// progress waits within bounds, paid is held and told, and everything else is no answer; and that a
// gateway that is slow or dead delays nobody but the orders it is asked about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "support/daemon_process.hpp"
#include "support/gateway_server.hpp"
#include "support/shop_fixture.hpp"

namespace order_timeout::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class PaymentCheck : public ShopFixture {
 protected:
  void start(const std::string& more = "retry_after: 200ms, max_delay: 1h") {
    daemon_.setup().extra = "payment_check: {url: \"" + gateway_.url() +
                            "\", read_timeout: 500ms, concurrency: 4, " + more + "}\n";
    daemon_.start();
    ASSERT_TRUE(daemon_.await_ready());
  }
  static std::string number(std::int64_t id) { return "SO" + std::to_string(id); }
  std::int64_t place_due() { return place_order(); }
  bool await_closed(std::int64_t id) {
    return await([&] { return status_of(id) == "CLOSED"; });
  }
  bool await_calls(const std::string& order_no, int calls) {
    return await([&] { return gateway_.calls(order_no) >= calls; });
  }
  std::string hold_of(std::int64_t id) {
    return shop_.value(
        "select coalesce((select \"by\" || ' ' || reason from order_timeout.hold "
        "where order_id = " +
        std::to_string(id) + "), '')");
  }
  bool await_hold(std::int64_t id, const std::string& expected) {
    return await([&] { return hold_of(id) == expected; });
  }

  GatewayServer gateway_;
  DaemonProcess daemon_{{.database_url = url(),
                         .lines = {{"default", "{timeout: 1s, grace: 0s, payment_check: true}"},
                                   {"plain", "{timeout: 1s, grace: 0s, payment_check: false}"}}}};
};

TEST_F(PaymentCheck, NoneClosesAndIsWrittenDown) {
  start();
  const std::int64_t id = place_due();
  EXPECT_TRUE(await_closed(id));
  EXPECT_EQ(gateway_.calls(number(id)), 1);
  EXPECT_TRUE(daemon_.await_audit("close: closed order_no=" + number(id)));
  EXPECT_THAT(daemon_.audit_text(), HasSubstr("detail=\"deadline_from=timeout gateway=NONE\""));
}

TEST_F(PaymentCheck, InProgressIsAskedAgainUntilItIsDecided) {
  start();
  const std::int64_t closing = place_due();
  gateway_.say(number(closing), "PAYING");
  ASSERT_TRUE(await_calls(number(closing), 3));
  EXPECT_EQ(status_of(closing), "WAIT_PAY");
  gateway_.say(number(closing), "FAILED");
  EXPECT_TRUE(await_closed(closing));
}

TEST_F(PaymentCheck, InProgressBeyondMaxDelayIsHeld) {
  start("retry_after: 200ms, max_delay: 1s");
  const std::int64_t id = place_order();
  gateway_.say(number(id), "PAYING");
  EXPECT_TRUE(await_hold(id, "payment_check gateway=PAYING"));
  EXPECT_GE(gateway_.calls(number(id)), 3);
  EXPECT_TRUE(daemon_.await_log("order held: a person has to look order_no=" + number(id)));
}

TEST_F(PaymentCheck, PaidIsHeldAtOnceAndClosedNeverUntilItIsLetGo) {
  start();
  const std::int64_t id = place_due();
  gateway_.say(number(id), "PAID");
  EXPECT_TRUE(await_hold(id, "payment_check gateway=PAID"));
  EXPECT_TRUE(daemon_.await_log("order held: a person has to look order_no=" + number(id)));
  EXPECT_TRUE(daemon_.await_audit("close: payment_evidence order_no=" + number(id)));
  EXPECT_TRUE(await_closed(place_due()));
  EXPECT_EQ(status_of(id), "WAIT_PAY");
  gateway_.say(number(id), "NONE");
  shop_.exec("select order_timeout.unhold_order(" + std::to_string(id) + ", 'lin', 'refunded')");
  EXPECT_TRUE(await_closed(id));
}

TEST_F(PaymentCheck, WhatIsNoConfiguredWordIsNoAnswer) {
  start("retry_after: 100ms, max_delay: 1h");
  const PlacedOrders placed = place_orders(7, "default", "now() + interval '2 seconds'");
  const std::string head = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
  const std::vector<std::string> answers = {
      head + "Content-Length: 0\r\n\r\n",
      head + "Content-Length: 17\r\n\r\n{\"status\":\"none\"}",
      "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
      "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 17\r\n\r\n"
      "{\"status\":\"NONE\"}",
      "HTTP/1.1 500 Oops\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
      head + "Content-Length: 17\r\n\r\n<html>NONE</html>",
      "NONE\r\n\r\n"};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    gateway_.answer(number(placed.first + static_cast<std::int64_t>(i)), answers[i]);
  }
  for (std::int64_t id = placed.first; id <= placed.last; ++id) {
    EXPECT_TRUE(await_calls(number(id), 2)) << id;
  }
  EXPECT_EQ(count("t_order where status <> 'WAIT_PAY'"), 0);
  EXPECT_EQ(count("order_timeout.hold"), 0);
  for (std::int64_t id = placed.first; id <= placed.last; ++id) gateway_.say(number(id), "NONE");
  EXPECT_TRUE(await_count("t_order where status = 'CLOSED'", 7));
}

TEST_F(PaymentCheck, UnknownForTooLongIsToldOnceAndNeverGivenUp) {
  start("retry_after: 100ms, max_delay: 0s");
  const std::int64_t id = place_due();
  gateway_.say(number(id), "WHAT");
  EXPECT_TRUE(
      daemon_.await_log("gives no answer about an order for too long order_no=" + number(id)));
  ASSERT_TRUE(await_calls(number(id), gateway_.calls(number(id)) + 2));
  EXPECT_TRUE(daemon_.await_audit("close: payment_unknown order_no=" + number(id)));
  EXPECT_EQ(status_of(id), "WAIT_PAY");
  gateway_.say(number(id), "NONE");
  EXPECT_TRUE(await_closed(id));
}

TEST_F(PaymentCheck, UnknownHoldsWhereConfigured) {
  start("unknown: hold");
  const std::int64_t id = place_due();
  gateway_.say(number(id), "WHAT");
  EXPECT_TRUE(await_hold(id, "payment_check gateway=WHAT"));
}

TEST_F(PaymentCheck, UnknownClosesWhereConfigured) {
  start("unknown: close");
  gateway_.fall_silent();
  const std::int64_t id = place_due();
  EXPECT_TRUE(await_closed(id));
  EXPECT_TRUE(daemon_.await_audit("gateway=\"", 1s) || daemon_.await_audit("gateway=read"));
}

TEST_F(PaymentCheck, ASilentGatewayDelaysNoOtherLineAndIsAskedByFewAtOnce) {
  start("retry_after: 200ms, max_delay: 1h");
  gateway_.fall_silent();
  place_orders(300);
  ASSERT_TRUE(await([&] { return gateway_.calls() > 0; }));
  place_orders(500, "plain");
  EXPECT_TRUE(await_count("t_order where biz_line = 'plain' and status = 'CLOSED'", 500));
  const Lateness late = lateness();
  std::printf("other line closed late by p99 %.0f ms\n", late.p99_ms);
  EXPECT_LT(late.p99_ms, 5'000);
  EXPECT_TRUE(daemon_.await_log("payment_check: down"));
  EXPECT_LE(gateway_.most_at_once(), 8) << "4 and those that have just given up";
  EXPECT_EQ(count("t_order where biz_line = 'default' and status <> 'WAIT_PAY'"), 0);
  const int while_down = gateway_.calls();
  EXPECT_LT(while_down, 100) << "the breaker keeps most of 300 questions back";
  gateway_.speak();
  EXPECT_TRUE(await_count("t_order where status = 'CLOSED'", 800, 90s));
  EXPECT_TRUE(daemon_.await_log("payment_check: up again"));
  expect_closed_once();
  expect_none_early();
}

TEST_F(PaymentCheck, ComesAndGoesWithAReload) {
  daemon_.setup().lines = {{"default", "{timeout: 1s, grace: 0s}"}};
  daemon_.start();
  ASSERT_TRUE(daemon_.await_ready());
  EXPECT_TRUE(await_closed(place_order()));
  EXPECT_EQ(gateway_.calls(), 0);

  daemon_.setup().lines = {{"default", "{timeout: 1s, grace: 0s, payment_check: true}"}};
  daemon_.setup().extra =
      "payment_check: {url: \"" + gateway_.url() + "\", retry_after: 200ms, max_delay: 1h}\n";
  daemon_.write_configuration();
  daemon_.signal(SIGHUP);
  ASSERT_TRUE(daemon_.await_log("reload_ok"));
  gateway_.say("PAYING");
  const std::int64_t id = place_order();
  ASSERT_TRUE(await_calls(number(id), 2));
  EXPECT_EQ(status_of(id), "WAIT_PAY");

  daemon_.setup().lines = {{"default", "{timeout: 1s, grace: 0s}"}};
  daemon_.setup().extra = "";
  daemon_.write_configuration();
  daemon_.signal(SIGHUP);
  EXPECT_TRUE(await_closed(id)) << "nobody is asked any more";
}

TEST_F(PaymentCheck, AnOrderPaidWhileTheGatewayIsAskedStaysPaid) {
  start();
  const std::int64_t id = place_due();
  gateway_.say(number(id), "PAYING");
  ASSERT_TRUE(await_calls(number(id), 2));
  shop_.exec("update t_order set status = 'PAID' where id = " + std::to_string(id));
  EXPECT_TRUE(await_closed(place_due()));
  const int calls = gateway_.calls(number(id));
  EXPECT_TRUE(await_closed(place_order()));
  EXPECT_LE(gateway_.calls(number(id)), calls + 1);
  EXPECT_EQ(status_of(id), "PAID");
}

}  // namespace
}  // namespace order_timeout::testing
