// Proves that an order somebody has paid, or is paying, stays open: evidence in its row or in the
// payments table, a payment in flight, and a payment committed between the moment a closing
// transaction looked and the moment it locked.
#include "support/close_fixture.hpp"

namespace order_timeout::testing {
namespace {

class ClosePayment : public CloseFixture {
 protected:
  void pay(const std::string& id, int order, const std::string& status, double seconds_ago = 0) {
    shop_.exec("INSERT INTO t_payment VALUES ('" + id + "', " + std::to_string(order) + ", '" +
               status + "', 1990, now() - interval '1 second' * " + std::to_string(seconds_ago) +
               ")");
  }

  std::string holds() {
    return shop_.value(
        "SELECT coalesce(string_agg(order_id || ' ' || reason || ' ' || \"by\", ';'), '') "
        "FROM order_timeout.hold");
  }

  // From now on whoever is not the shop reads t_order only after the gate opens: its statement has
  // its snapshot by then, and no lock yet.
  void put_gate() {
    shop_.exec(
        "CREATE FUNCTION gate() RETURNS boolean LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN true; END $$;"
        "ALTER TABLE t_order ENABLE ROW LEVEL SECURITY;"
        "CREATE POLICY gated ON t_order USING (gate())");
    shop_.exec("SELECT pg_advisory_lock(1)");
  }

  // What `statement` of the daemon gives when the payment is committed while it stands at the gate.
  Rows result_of_a_payment_in_the_gap(Session& session, const std::string& statement) {
    put_gate();
    auto closing = session.rows_later(statement);
    EXPECT_TRUE(wait_until_blocked(shop_, session.backend_pid()));
    pay("P1", 1, "SUCCESS");
    shop_.exec("SELECT pg_advisory_unlock(1)");
    return closing.get();
  }
};

TEST_F(ClosePayment, APaymentCommittedBetweenSnapshotAndLockLeavesTheOrderOpen) {
  place(1, 71);
  const auto all = answers(result_of_a_payment_in_the_gap(
      daemon_, "SELECT * FROM order_timeout.close_orders('{1}', NULL)"));
  EXPECT_EQ(all.at(0).outcome, "payment_evidence");
  EXPECT_EQ(status_of(1), "WAIT_PAY");
}

// The same gap defeats a close in one statement, which shows that the test above stands in the gap.
TEST_F(ClosePayment, ACloseInOneStatementWouldHaveOverlookedThatPayment) {
  place(1, 71);
  shop_.exec(
      "GRANT SELECT, UPDATE ON t_order TO order_timeout_daemon;"
      "GRANT SELECT ON t_payment TO order_timeout_daemon");
  result_of_a_payment_in_the_gap(
      daemon_,
      "WITH mine AS (SELECT id FROM t_order WHERE id = 1 FOR UPDATE SKIP LOCKED) "
      "UPDATE t_order o SET status = 'CLOSED' FROM mine m WHERE o.id = m.id AND o.status = "
      "'WAIT_PAY' "
      "AND NOT EXISTS (SELECT FROM t_payment p WHERE p.order_id = o.id AND p.status = 'SUCCESS')");
  EXPECT_EQ(status_of(1), "CLOSED");
}

TEST_F(ClosePayment, APaymentInFlightLocksItsOrder) {
  place(1, 71);
  Session payer(server_.url(database_));
  payer.begin();
  payer.exec("INSERT INTO t_payment VALUES ('P1', 1, 'SUCCESS', 1990)");
  EXPECT_EQ(outcome(1), "locked");
  payer.commit();
  EXPECT_EQ(outcome(1), "payment_evidence");
}

TEST_F(ClosePayment, APaymentThatFailedInFlightLetsTheOrderClose) {
  place(1, 71);
  Session payer(server_.url(database_));
  payer.begin();
  payer.exec("INSERT INTO t_payment VALUES ('P1', 1, 'SUCCESS', 1990)");
  EXPECT_EQ(outcome(1), "locked");
  payer.rollback();
  EXPECT_EQ(outcome(1), "closed");
}

TEST_F(ClosePayment, EvidenceHoldsTheOrderAndNamesItself) {
  place(1, 71);
  pay("P9", 1, "SUCCESS");
  const CloseAnswer answer = close(1);
  EXPECT_EQ(answer.outcome, "payment_evidence");
  EXPECT_EQ(answer.detail, "payment=P9 status=SUCCESS");
  EXPECT_EQ(holds(), "1 payment=P9 status=SUCCESS payment_evidence");
  EXPECT_EQ(outcome(1), "held");
  EXPECT_EQ(status_of(1), "WAIT_PAY");
}

TEST_F(ClosePayment, PaidAtIsEvidence) {
  place(1, 71);
  shop_.exec("UPDATE t_order SET paid_at = '2026-01-02 03:04:05.678+00'");
  const CloseAnswer answer = close(1);
  EXPECT_EQ(answer.outcome, "payment_evidence");
  EXPECT_EQ(answer.detail, "paid_at=2026-01-02T03:04:05.678Z");
}

TEST_F(ClosePayment, AnOldSuccessCountsBehindALaterFailure) {
  place(1, 71);
  pay("P1", 1, "SUCCESS", 60);
  pay("P2", 1, "FAILED", 1);
  EXPECT_EQ(outcome(1), "payment_evidence");
}

TEST_F(ClosePayment, AnAttemptInProgressDefersTheClose) {
  place(1, 71);
  pay("P1", 1, "PAYING");
  daemon_.begin();
  const CloseAnswer answer = close(1);
  EXPECT_EQ(answer.outcome, "payment_in_progress");
  EXPECT_EQ(answer.detail, "payment=P1 status=PAYING");
  EXPECT_EQ(answer.retry_ms,
            daemon_.value("SELECT order_timeout.epoch_ms(now() + interval '5 s')"));
  daemon_.commit();
  EXPECT_EQ(holds(), "");
}

TEST_F(ClosePayment, OnlyTheNewestAttemptIsInProgress) {
  place(1, 71);
  pay("P1", 1, "PAYING", 60);
  pay("P2", 1, "FAILED", 1);
  EXPECT_EQ(outcome(1), "closed");
}

TEST_F(ClosePayment, AnAttemptInProgressForTooLongHoldsTheOrder) {
  place(1, 70 + 599);
  place(2, 70 + 601);
  pay("P1", 1, "PAYING");
  pay("P2", 2, "PAYING");
  const auto all = close_all("1,2");
  EXPECT_EQ(all.at(0).outcome, "payment_in_progress");
  EXPECT_EQ(all.at(1).outcome, "held");
  EXPECT_EQ(all.at(1).detail, "payment=P2 status=PAYING");
  EXPECT_EQ(holds(), "2 payment=P2 status=PAYING payment_check");
}

TEST_F(ClosePayment, AHoldThatIsThereAlreadyKeepsItsReason) {
  place(1, 71);
  pay("P1", 1, "SUCCESS");
  shop_.exec("INSERT INTO order_timeout.hold (order_id, reason, \"by\") VALUES (1, 'mine', 'lin')");
  EXPECT_EQ(outcome(1), "held");
  EXPECT_EQ(holds(), "1 mine lin");
}

}  // namespace
}  // namespace order_timeout::testing
