// Proves that one order that cannot be closed holds up no other, that a database in which nothing
// can be closed is told from a bad order, and that the shop may change a row at any time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/daemon_process.hpp"
#include "support/shop_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class FailingClose : public ShopFixture {
 protected:
  void raise_when(const std::string& condition) {
    shop_.exec(
        "create function refuse() returns trigger language plpgsql as $$ begin"
        " raise exception 'no close today'; end $$; create trigger refuse before update on"
        " t_order for each row when (new.status = 'CLOSED' and (" +
        condition + ")) execute function refuse()");
  }
};

TEST_F(FailingClose, OneOrderThatATriggerRefusesIsQuarantinedAndAllOthersClose) {
  const PlacedOrders placed = place_orders(200, "default", "now() - interval '1 hour'");
  const std::string bad = std::to_string(placed.first + 77);
  raise_when("new.id = " + bad);
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  EXPECT_TRUE(await_released(199));
  EXPECT_TRUE(await_count("order_timeout.quarantine where order_id = " + bad +
                              " and error like '%no close today%' and sqlstate = 'P0001'",
                          1));
  EXPECT_EQ(count("order_timeout.quarantine"), 1);
  EXPECT_TRUE(daemon.await_log("order quarantined order_id=" + bad));
  EXPECT_THAT(daemon.log_text(), Not(HasSubstr("every close fails alike")));
  expect_books_balance();
  // Mended: closed when its next try is due; a restart does not make that sooner.
  shop_.exec("drop trigger refuse on t_order");
  daemon.kill9();
  daemon.start();
  ASSERT_TRUE(daemon.await_audit("order_id=" + bad));
  EXPECT_EQ(status_of(placed.first + 77), "WAIT_PAY");
  daemon.kill9();
  shop_.exec("update order_timeout.quarantine set next_attempt_at = now()");
  daemon.start();
  EXPECT_TRUE(await_released(200));
  expect_books_balance();
  EXPECT_EQ(count("order_timeout.quarantine"), 0);
}

TEST_F(FailingClose, AnOrderWhoseEventKeyIsTakenIsQuarantinedAlone) {
  const PlacedOrders placed = place_orders(50, "default", "now() - interval '1 hour'");
  const std::string bad = std::to_string(placed.first + 7);
  shop_.exec(
      "insert into order_timeout.outbox (event_key, order_id, order_no, event_type, payload,"
      " due, status, finished_at) values ('" +
      bad +
      ":RELEASE_STOCK', 999999, 'X',"
      " 'RELEASE_STOCK', '{}', now(), 'SUCCESS', now())");
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  EXPECT_TRUE(
      await_count("order_timeout.quarantine where sqlstate = '23505' and order_id = " + bad, 1));
  EXPECT_TRUE(await_count("t_order where status = 'CLOSED'", 49));
  EXPECT_EQ(count("order_timeout.quarantine"), 1);
}

TEST_F(FailingClose, ARightThatIsMissingStopsClosingLoudlyUntilItIsBack) {
  place_orders(100, "default", "now() - interval '1 hour'");
  shop_.exec("revoke update on t_order from order_timeout_owner");
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  EXPECT_TRUE(daemon.await_log("every close fails alike"));
  EXPECT_THAT(daemon.log_text(), HasSubstr("42501"));
  EXPECT_EQ(count("t_order where status = 'CLOSED'"), 0);
  EXPECT_EQ(count("order_timeout.quarantine"), 0) << "good orders were quarantined";
  shop_.exec("grant update on t_order to order_timeout_owner");
  EXPECT_TRUE(daemon.await_log("resumed: orders close again"));
  EXPECT_TRUE(await_released(100));
  expect_books_balance();
}

TEST_F(FailingClose, ATriggerThatRefusesAllStopsClosingWithoutQuarantine) {
  place_orders(100, "default", "now() - interval '1 hour'");
  raise_when("true");
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  EXPECT_TRUE(daemon.await_log("every close fails alike"));
  EXPECT_EQ(count("order_timeout.quarantine"), 0) << "good orders were quarantined";
  shop_.exec("drop trigger refuse on t_order");
  EXPECT_TRUE(await_released(100));
  expect_books_balance();
}

TEST_F(FailingClose, AVersionThatTheShopMovedMeanwhileIsTakenUp) {
  DaemonProcess daemon({.database_url = url(), .lines = {{"default", "{timeout: 2s, grace: 0s}"}}});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  place_orders(50);
  ASSERT_TRUE(daemon.running());
  // Found within two polls; the last bump comes shortly before they are due.
  ASSERT_TRUE(wait_for(shop_,
                       "select min(created_at) < clock_timestamp() - interval '1.5 seconds'"
                       " from t_order"));
  shop_.exec("update t_order set version = version + 5 where status = 'WAIT_PAY'");
  EXPECT_TRUE(await_released(50));
  expect_books_balance("o.created_at + interval '2 seconds'");
  EXPECT_EQ(count("t_order where version < 5"), 0);
}

}  // namespace
}  // namespace order_timeout::testing
