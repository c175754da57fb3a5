// Proves that the running daemon keeps no late payment: it finds those of shops that only write a
// payment row, delivers one refund for each, tells what it cannot refund, and never releases the
// stock of an order twice that the shop opened again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/daemon_process.hpp"
#include "support/shop_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::HasSubstr;

class LatePayment : public ShopFixture {
 protected:
  LatePayment() {
    shop_.exec(
        "create table t_refund (key text primary key, calls int not null default 1);"
        "create function take_refund(event jsonb) returns void language sql security definer as $$"
        " insert into public.t_refund (key) values (event ->> 'event_id')"
        " on conflict (key) do update set calls = public.t_refund.calls + 1 $$");
  }

  void start() {
    daemon_.start();
    ASSERT_TRUE(daemon_.await_ready());
  }
  std::int64_t closed_order() {
    const std::int64_t id = place_order();
    EXPECT_TRUE(await([&] { return status_of(id) == "CLOSED"; }));
    return id;
  }
  void insert_payment(const std::string& payment, std::int64_t id) {
    shop_.exec("insert into t_payment values ('" + payment + "', " + std::to_string(id) +
               ", 'SUCCESS', 990)");
  }
  std::string refunds() {
    return shop_.value(
        "select coalesce(string_agg(key || ' ' || calls, ';' order by key), '') from t_refund");
  }
  bool await_refunds(const std::string& expected) {
    return await([&] { return refunds() == expected; });
  }

  DaemonProcess daemon_{
      {.database_url = url(),
       .extra = "events:\n"
                "  release_stock: {sink: sql, statement: \"SELECT release_stock($1::jsonb)\"}\n"
                "  refund: {sink: sql, statement: \"SELECT take_refund($1::jsonb)\"}\n"}};
};

TEST_F(LatePayment, EachIsRefundedOnceWithoutPayOrder) {
  start();
  const std::int64_t id = closed_order();
  const std::string key = std::to_string(id) + ":REFUND:";
  insert_payment("P1", id);
  EXPECT_TRUE(await_refunds(key + "P1 1"));
  EXPECT_TRUE(daemon_.await_audit("payment: refund order_no=SO" + std::to_string(id)));
  EXPECT_TRUE(daemon_.await_log("WARN payment: refund order_no=SO" + std::to_string(id)));
  EXPECT_EQ(shop_.value("select order_timeout.pay_order(" + std::to_string(id) + ", 'P1', 990)"),
            "REFUND");
  EXPECT_EQ(shop_.value("select order_timeout.pay_order(" + std::to_string(id) + ", 'P2', 990)"),
            "REFUND");
  insert_payment("P2", id);
  insert_payment("P3", id);
  EXPECT_TRUE(await_refunds(key + "P1 1;" + key + "P2 1;" + key + "P3 1"));
  EXPECT_EQ(status_of(id), "CLOSED");
  EXPECT_TRUE(await_released(1));
  expect_released_once();
}

TEST_F(LatePayment, IsFoundAfterARestartAmongManyOlderCloses) {
  start();
  const PlacedOrders placed = place_orders(1'500);
  ASSERT_TRUE(await_released(1'500));
  ASSERT_EQ(daemon_.terminate(), 0);
  insert_payment("P1", placed.first);
  insert_payment("P2", placed.last);
  daemon_.start();
  EXPECT_TRUE(await_count("t_refund where calls = 1", 2));
  EXPECT_EQ(count("t_refund where key in ('" + std::to_string(placed.first) + ":REFUND:P1', '" +
                  std::to_string(placed.last) + ":REFUND:P2')"),
            2);
}

TEST_F(LatePayment, OfAnOrderClosedWithoutEventsIsFoundToo) {
  daemon_.setup().lines = {{"default", "{timeout: 1s, grace: 0s, on_close: []}"}};
  start();
  const std::int64_t id = closed_order();
  insert_payment("P1", id);
  EXPECT_TRUE(await_refunds(std::to_string(id) + ":REFUND:P1 1"));
}

TEST_F(LatePayment, ThatOnlyAStatusTellsOfIsToldAndNotRefunded) {
  start();
  const std::int64_t id = closed_order();
  shop_.exec("update t_order set status = 'PAID'");
  const std::string order = " order_no=SO" + std::to_string(id);
  EXPECT_TRUE(daemon_.await_log("ERROR payment: paid_after_close" + order));
  EXPECT_TRUE(daemon_.await_log("ERROR payment: illegal_move" + order));
  const std::int64_t other = closed_order();
  insert_payment("P2", other);  // what was to be refunded is refunded by then
  EXPECT_TRUE(await_refunds(std::to_string(other) + ":REFUND:P2 1"));
  EXPECT_EQ(count("order_timeout.notice where kind <> 'refund'"), 2) << "told once each";
}

TEST_F(LatePayment, OfAnOrderOpenedAgainIsItsOwnAffairAndItsStockIsReleasedOnce) {
  start();
  const std::int64_t id = closed_order();
  ASSERT_TRUE(await_released(1));
  shop_.exec("update t_order set status = 'WAIT_PAY'");
  EXPECT_TRUE(daemon_.await_audit("close: reopened order_no=SO" + std::to_string(id)));
  EXPECT_TRUE(daemon_.await_audit("payment: illegal_move order_no=SO" + std::to_string(id)));
  insert_payment("P1", id);
  EXPECT_TRUE(daemon_.await_audit("payment: paid_after_close order_no=SO" + std::to_string(id)));
  EXPECT_EQ(refunds(), "");
  EXPECT_EQ(count("t_stock_release where calls = 1"), 1);
  EXPECT_EQ(count("t_stock_release"), 1);
}

TEST_F(LatePayment, WaitsWithOneWarningWhereNoEventTakesIt) {
  daemon_.setup().extra = "";
  start();
  const std::int64_t id = closed_order();
  insert_payment("P1", id);
  insert_payment("P2", id);
  EXPECT_TRUE(daemon_.await_log("refunds wait in the outbox"));
  EXPECT_TRUE(
      await_count("order_timeout.outbox where event_type = 'REFUND' and status = 'PENDING'", 2));
  EXPECT_TRUE(await_count("order_timeout.notice where told_at is null", 0));
  const std::string log = daemon_.log_text();
  const std::size_t first = log.find("refunds wait in the outbox");
  EXPECT_EQ(log.find("refunds wait in the outbox", first + 1), std::string::npos);
}

TEST_F(LatePayment, AWrongAmountIsToldAndDecidesNothing) {
  start();
  const std::int64_t id = place_order("now() + interval '1 hour'");
  EXPECT_EQ(shop_.value("select order_timeout.pay_order(" + std::to_string(id) + ", 'P1', 1)"),
            "PAID");
  EXPECT_TRUE(daemon_.await_log("WARN payment: amount_differs order_no=SO" + std::to_string(id)));
  EXPECT_THAT(daemon_.log_text(), HasSubstr("order_amount="));
  EXPECT_EQ(refunds(), "");
}

}  // namespace
}  // namespace order_timeout::testing
