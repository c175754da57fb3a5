// Proves that no late payment is kept where the shop does not call pay_order: the watcher finds it
// and writes the one REFUND event that pay_order would have written; where nothing says which
// payment it was it only tells; a closed order that the shop moves is told once.
#include "support/close_fixture.hpp"

namespace order_timeout::testing {
namespace {

class WatchClosed : public CloseFixture {
 protected:
  WatchClosed() {
    place(1, 71);
    close(1);
  }

  std::string watch(int id = 1) {
    return daemon_.value("SELECT order_timeout.watch_closed('{" + std::to_string(id) + "}')");
  }
  void insert_payment(const std::string& id, const std::string& status = "SUCCESS") {
    shop_.exec("INSERT INTO t_payment VALUES ('" + id + "', 1, '" + status + "', 1990)");
  }
  void set_status(const std::string& status) {
    shop_.exec("UPDATE t_order SET status = '" + status + "'");
  }
  std::string refunds() {
    return shop_.value(
        "SELECT coalesce(string_agg(event_key, ';' ORDER BY event_key), '') "
        "FROM order_timeout.outbox WHERE event_type = 'REFUND'");
  }
  std::string notices() {
    return shop_.value(
        "SELECT coalesce(string_agg(kind || ' ' || coalesce(detail ->> 'payment_id', '-'), ';' "
        "ORDER BY id), '') FROM order_timeout.notice");
  }
};

TEST_F(WatchClosed, SeesNothingWhereNothingIs) {
  EXPECT_EQ(watch(), "0");
  EXPECT_EQ(notices(), "");
}

TEST_F(WatchClosed, RefundsALatePaymentOnce) {
  insert_payment("P1");
  EXPECT_EQ(watch(), "1");
  EXPECT_EQ(refunds(), "1:REFUND:P1");
  EXPECT_EQ(notices(), "refund P1");
  EXPECT_EQ(watch(), "0");
  insert_payment("P2");
  EXPECT_EQ(watch(), "1");
  EXPECT_EQ(refunds(), "1:REFUND:P1;1:REFUND:P2");
  EXPECT_EQ(status_of(1), "CLOSED");
}

TEST_F(WatchClosed, ItsRefundIsTheOneOfPayOrder) {
  insert_payment("P1");
  watch();
  EXPECT_EQ(shop_.value("SELECT order_timeout.pay_order(1, 'P1', 1990)"), "REFUND");
  EXPECT_EQ(shop_.value("SELECT order_timeout.pay_order(1, 'P2', 1990)"), "REFUND");
  insert_payment("P2");
  EXPECT_EQ(watch(), "0");
  EXPECT_EQ(refunds(), "1:REFUND:P1;1:REFUND:P2");
}

TEST_F(WatchClosed, AnAttemptIsNoPaymentUntilItSucceeds) {
  insert_payment("P1", "PAYING");
  insert_payment("P2", "FAILED");
  EXPECT_EQ(watch(), "0");
  shop_.exec("UPDATE t_payment SET status = 'SUCCESS' WHERE payment_id = 'P1'");
  EXPECT_EQ(watch(), "1");
  EXPECT_EQ(refunds(), "1:REFUND:P1");
}

TEST_F(WatchClosed, PassesOverAnOrderThatSomebodyHolds) {
  insert_payment("P1");
  shop_.begin();
  shop_.exec("SELECT 1 FROM t_order FOR UPDATE");
  EXPECT_EQ(watch(), "0");
  shop_.commit();
  EXPECT_EQ(watch(), "1");
}

TEST_F(WatchClosed, SetToPaidWithItsPaymentIsRefundedAndTold) {
  set_status("PAID");
  insert_payment("P1");
  EXPECT_EQ(watch(), "1");
  EXPECT_EQ(refunds(), "1:REFUND:P1");
  EXPECT_EQ(notices(), "illegal_move -;refund P1");
  EXPECT_EQ(watch(), "0");
}

TEST_F(WatchClosed, WhereOnlyAStatusSaysPaidNothingIsRefunded) {
  set_status("PAID");
  EXPECT_EQ(watch(), "1");
  EXPECT_EQ(refunds(), "");
  EXPECT_EQ(notices(), "illegal_move -;paid_after_close -");
  EXPECT_EQ(watch(), "0");
}

TEST_F(WatchClosed, WhereOnlyPaidAtSaysPaidNothingIsRefunded) {
  shop_.exec("UPDATE t_order SET paid_at = now()");
  EXPECT_EQ(watch(), "1");
  EXPECT_EQ(refunds(), "");
  EXPECT_EQ(notices(), "paid_after_close -");
  EXPECT_EQ(watch(), "0");
}

TEST_F(WatchClosed, AnOrderOpenedAgainIsToldOnceAndItsNewPaymentIsItsOwnAffair) {
  set_status("WAIT_PAY");
  EXPECT_EQ(watch(), "1");
  EXPECT_EQ(watch(), "0");
  insert_payment("P1");
  EXPECT_EQ(watch(), "1");
  set_status("PAID");
  EXPECT_EQ(watch(), "0");
  EXPECT_EQ(refunds(), "");
  EXPECT_EQ(notices(), "illegal_move -;paid_after_close P1");
}

TEST_F(WatchClosed, AnOrderOpenedAgainNeverReleasesItsStockTwice) {
  set_status("WAIT_PAY");
  EXPECT_EQ(outcome(1), "reopened");
  EXPECT_EQ(watch(), "1");
  EXPECT_EQ(outcome(1), "reopened");
  EXPECT_EQ(count("order_timeout.outbox WHERE event_type = 'RELEASE_STOCK'"), 1);
}

TEST_F(WatchClosed, AnOrderOpenedAgainMayBePaid) {
  set_status("WAIT_PAY");
  watch();
  EXPECT_EQ(shop_.value("SELECT order_timeout.pay_order(1, 'P1', 1990)"), "PAID");
  insert_payment("P1");
  EXPECT_EQ(watch(), "0");
  EXPECT_EQ(refunds(), "");
}

TEST_F(WatchClosed, AStatusThatOnlyTheShopKnowsIsNotRefunded) {
  set_status("ARCHIVED");
  EXPECT_EQ(watch(), "0");
  insert_payment("P1");
  EXPECT_EQ(watch(), "1");
  EXPECT_EQ(refunds(), "");
  EXPECT_EQ(notices(), "paid_after_close P1");
  EXPECT_EQ(watch(), "0");
}

TEST_F(WatchClosed, AnOrderThatWeDidNotCloseIsNotOurs) {
  place(2, 0);
  shop_.exec(
      "UPDATE t_order SET status = 'PAID' WHERE id = 2;"
      "INSERT INTO t_payment VALUES ('P2', 2, 'SUCCESS', 1990)");
  EXPECT_EQ(watch(2), "0");
  EXPECT_EQ(notices(), "");
}

TEST_F(WatchClosed, APaymentIdOfAnotherOrderIsToldAndStopsNobody) {
  place(2, 0);
  ASSERT_EQ(shop_.value("SELECT order_timeout.pay_order(2, 'P1', 1990)"), "PAID");
  insert_payment("P1");
  insert_payment("P3");
  EXPECT_EQ(watch(), "1");
  EXPECT_EQ(refunds(), "1:REFUND:P3");
  EXPECT_EQ(notices(), "paid_after_close P1;refund P3");
  EXPECT_EQ(watch(), "0");
}

TEST_F(WatchClosed, AnOrderRememberedBeyondItsEventsIsWatchedToo) {
  shop_.exec(
      "UPDATE order_timeout.outbox SET status = 'SUCCESS', finished_at = now() - interval '8 days';"
      "SELECT order_timeout.retire_events('7 days', 100)");
  ASSERT_EQ(count("order_timeout.outbox"), 0);
  insert_payment("P1");
  EXPECT_EQ(watch(), "1");
  EXPECT_EQ(refunds(), "1:REFUND:P1");
}

}  // namespace
}  // namespace order_timeout::testing
