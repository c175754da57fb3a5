// Proves what an operator's close overrides (version, action, pause, age, quarantine, on request
// the deadline), what it never does (held, paid, reopened orders), and that it leaves its record in
// the same transaction.
#include "support/close_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;

class CloseByHand : public CloseFixture {
 protected:
  std::vector<CloseAnswer> by_hand(const std::string& ids, bool not_due = false) {
    return answers(operator_.rows("SELECT * FROM order_timeout.close_orders_by_hand('{" + ids +
                                  "}', " + (not_due ? "true" : "false") +
                                  ", 'lin', 'warehouse fire')"));
  }

  Session operator_{server_.url(database_, "order_timeout_operator")};
};

TEST_F(CloseByHand, OverridesActionPauseAgeAndQuarantine) {
  apply_rules(
      R"("default":{"timeout_ms":60000,"grace_ms":10000,"action":"close","on_close":["RELEASE_STOCK"]},
    "hotel":{"timeout_ms":60000,"grace_ms":10000,"action":"review","on_close":["RELEASE_STOCK"]},
    "trial":{"timeout_ms":60000,"grace_ms":10000,"action":"shadow","on_close":["RELEASE_STOCK"]},
    "never":{"timeout_ms":60000,"grace_ms":10000,"action":"ignore","on_close":["RELEASE_STOCK"]})");
  place(1, 71, "hotel");
  place(2, 71, "trial");
  place(3, 71, "never");
  place(4, 70 + 31 * 86400);
  place(5, 71);
  daemon_.exec("SELECT order_timeout.quarantine_order(5, 'P0001', 'boom')");
  shop_.exec(
      "INSERT INTO order_timeout.pause (scope, \"by\", reason) VALUES ('all', 'lin', 'sale')");
  EXPECT_THAT(by_hand("1,2,3,4,5"), Each(Field(&CloseAnswer::outcome, "closed")));
  EXPECT_EQ(count("order_timeout.outbox"), 5);
  EXPECT_EQ(count("order_timeout.quarantine"), 0);
}

TEST_F(CloseByHand, KeepsTheDeadlineUnlessToldOtherwise) {
  place(1, 5);
  EXPECT_EQ(by_hand("1").at(0).outcome, "not_due");
  EXPECT_EQ(by_hand("1", true).at(0).outcome, "closed");
  EXPECT_EQ(shop_.value("SELECT due <= created_at FROM order_timeout.outbox"), "t");
}

TEST_F(CloseByHand, NeverClosesHeldPaidOrReopenedOrders) {
  for (int id = 1; id <= 6; ++id) place(id, 71);
  shop_.exec(
      "INSERT INTO order_timeout.hold (order_id, reason, \"by\") VALUES (1, 'r', 'lin');"
      "UPDATE t_order SET status = 'PAID' WHERE id = 2;"
      "UPDATE t_order SET paid_at = now() WHERE id = 3;"
      "INSERT INTO t_payment VALUES ('P4', 4, 'SUCCESS', 1), ('P5', 5, 'PAYING', 1);"
      "INSERT INTO order_timeout.closed_order VALUES (6, now())");
  EXPECT_THAT(by_hand("1,2,3,4,5,6", true),
              ElementsAre(Field(&CloseAnswer::outcome, "held"),
                          Field(&CloseAnswer::outcome, "already_paid"),
                          Field(&CloseAnswer::outcome, "payment_evidence"),
                          Field(&CloseAnswer::outcome, "payment_evidence"),
                          Field(&CloseAnswer::outcome, "payment_in_progress"),
                          Field(&CloseAnswer::outcome, "reopened")));
  EXPECT_EQ(count("t_order WHERE status = 'CLOSED'"), 0);
}

TEST_F(CloseByHand, RecordsWhoWhyAndWhat) {
  place(1, 71);
  place(2, 5);
  by_hand("2,1,99");
  EXPECT_THAT(
      shop_.rows("SELECT kind, status, scanned, closed, skipped, failed, detail, finished_at >= "
                 "started_at FROM order_timeout.sweep_run"),
      ElementsAre(Row{
          "MANUAL", "SUCCESS", "3", "1", "2", "0",
          R"({"by": "lin", "host": "local", "closed": [1], "reason": "warehouse fire", "not_due": false})",
          "t"}));
}

TEST_F(CloseByHand, ItsRecordAndItsClosesGoBackTogether) {
  place(1, 71);
  operator_.begin();
  EXPECT_EQ(by_hand("1").at(0).outcome, "closed");
  operator_.rollback();
  EXPECT_EQ(status_of(1), "WAIT_PAY");
  EXPECT_EQ(count("order_timeout.sweep_run"), 0);
}

TEST_F(CloseByHand, WantsANameAndAReason) {
  place(1, 71);
  for (const std::string who_and_why : {"'lin', ' '", "NULL, 'fire'"}) {
    const auto error = operator_.refused(
        "SELECT * FROM order_timeout.close_orders_by_hand('{1}', false, " + who_and_why + ")");
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->sqlstate, "22023");
  }
  EXPECT_EQ(status_of(1), "WAIT_PAY");
}

}  // namespace
}  // namespace order_timeout::testing
