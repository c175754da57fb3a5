// Proves that closing an order and writing its events is one thing: each event once, its payload as
// sinks get it, and nothing left behind where a trigger, a clash or a reopened order stands in the
// way.
#include "support/close_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

class CloseEvents : public CloseFixture {
 protected:
  void order_trigger(const std::string& body) {
    shop_.exec(
        "CREATE FUNCTION shop_rule() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + body +
        " END $$; CREATE TRIGGER shop_rule BEFORE UPDATE ON t_order FOR EACH ROW EXECUTE FUNCTION "
        "shop_rule()");
  }
};

TEST_F(CloseEvents, WritesOneEventOfEachTypeWithTheOrdersFigures) {
  apply_rules(R"("default":{"timeout_ms":60000,"grace_ms":10000,"action":"close",
                            "on_close":["RELEASE_STOCK","TELL_CUSTOMER"]})");
  place(1, 71);
  shop_.exec("INSERT INTO t_order_item VALUES (1, 20, 1), (1, 10, 2)");
  ASSERT_EQ(outcome(1), "closed");
  const Rows rows = shop_.rows(
      "SELECT event_key, order_id, order_no, event_type, status, attempts, next_attempt_at <= "
      "now(), "
      "due = (SELECT created_at + interval '70 s' FROM t_order) FROM order_timeout.outbox ORDER BY "
      "1");
  EXPECT_THAT(
      rows,
      ElementsAre(Row{"1:RELEASE_STOCK", "1", "N1", "RELEASE_STOCK", "PENDING", "0", "t", "t"},
                  Row{"1:TELL_CUSTOMER", "1", "N1", "TELL_CUSTOMER", "PENDING", "0", "t", "t"}));
  EXPECT_EQ(shop_.value("SELECT payload - 'closed_at' FROM order_timeout.outbox LIMIT 1"),
            shop_.value(R"(SELECT '{"order_id":1,"order_no":"N1","user_id":7,"business_line":"shop",
              "amount":1990,"items":[{"sku_id":20,"qty":1},{"sku_id":10,"qty":2}]}'::jsonb)"));
  EXPECT_EQ(shop_.value("SELECT payload->>'closed_at' FROM order_timeout.outbox LIMIT 1"),
            shop_.value(
                "SELECT to_char(closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') "
                "FROM t_order"));
}

TEST_F(CloseEvents, SendsNullsAndAnEmptyListWhereTheShopHasNothing) {
  place(1, 71);
  shop_.exec("UPDATE t_order SET user_id = NULL, amount_cents = NULL, biz_line = NULL");
  ASSERT_EQ(outcome(1), "closed");
  EXPECT_EQ(
      shop_.value("SELECT payload - 'closed_at' FROM order_timeout.outbox"),
      shop_.value(R"(SELECT '{"order_id":1,"order_no":"N1","user_id":null,"business_line":null,
              "amount":null,"items":[]}'::jsonb)"));
}

TEST_F(CloseEvents, RemembersAnOrderClosedWithoutEvents) {
  apply_rules(R"("default":{"timeout_ms":60000,"grace_ms":10000,"action":"close","on_close":[]})");
  place(1, 71);
  ASSERT_EQ(outcome(1), "closed");
  EXPECT_EQ(count("order_timeout.outbox"), 0);
  shop_.exec("UPDATE t_order SET status = 'WAIT_PAY'");
  EXPECT_EQ(outcome(1), "reopened");
}

TEST_F(CloseEvents, AReopenedOrderIsQuarantinedAndReleasesNothingTwice) {
  place(1, 71);
  ASSERT_EQ(outcome(1), "closed");
  shop_.exec("UPDATE t_order SET status = 'WAIT_PAY'");
  EXPECT_EQ(outcome(1), "reopened");
  EXPECT_EQ(shop_.value("SELECT reason || ' ' || next_attempt_at FROM order_timeout.quarantine"),
            "reopened infinity");
  EXPECT_EQ(status_of(1), "WAIT_PAY");
  shop_.exec("DELETE FROM order_timeout.outbox");
  EXPECT_EQ(outcome(1), "reopened");  // the quarantine remembers by itself
}

TEST_F(CloseEvents, AReopenedOrderThatWasQuarantinedBeforeBecomesReopened) {
  place(1, 71);
  ASSERT_EQ(outcome(1), "closed");
  shop_.exec("UPDATE t_order SET status = 'WAIT_PAY'");
  daemon_.exec("SELECT order_timeout.quarantine_order(1, 'P0001', 'boom')");
  EXPECT_EQ(outcome(1), "reopened");
  EXPECT_EQ(shop_.value("SELECT reason FROM order_timeout.quarantine"), "reopened");
}

TEST_F(CloseEvents, ARefundIsNoCloseToBeReopened) {
  place(1, 71);
  shop_.exec(
      "INSERT INTO order_timeout.outbox (event_key, order_id, order_no, event_type, payload) "
      "VALUES "
      "('1:REFUND:P1', 1, 'N1', 'REFUND', '{}')");
  EXPECT_EQ(outcome(1), "closed");
}

TEST_F(CloseEvents, AClashInTheOutboxTakesTheWholeBatchBack) {
  place(1, 71);
  place(2, 71);
  shop_.exec(
      "INSERT INTO order_timeout.outbox (event_key, order_id, order_no, event_type, payload) "
      "VALUES "
      "('2:RELEASE_STOCK', 999, 'N999', 'RELEASE_STOCK', '{}')");
  const auto error = daemon_.refused("SELECT * FROM order_timeout.close_orders('{1,2}', NULL)");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->sqlstate, "23505");
  EXPECT_EQ(count("t_order WHERE status = 'WAIT_PAY'"), 2);
  EXPECT_EQ(count("order_timeout.outbox"), 1);
  EXPECT_EQ(outcome(1), "closed");
}

TEST_F(CloseEvents, ATriggerThatRaisesTakesTheWholeBatchBack) {
  place(1, 71);
  place(2, 71);
  order_trigger("IF OLD.id = 2 THEN RAISE EXCEPTION 'not this one'; END IF; RETURN NEW;");
  const auto error = daemon_.refused("SELECT * FROM order_timeout.close_orders('{1,2}', NULL)");
  ASSERT_TRUE(error.has_value());
  EXPECT_THAT(error->message, HasSubstr("not this one"));
  EXPECT_EQ(count("t_order WHERE status = 'WAIT_PAY'"), 2);
  EXPECT_EQ(count("order_timeout.outbox"), 0);
}

TEST_F(CloseEvents, ATriggerThatSwallowsTheUpdateIsAFailureWithoutEvents) {
  place(1, 71);
  place(2, 71);
  order_trigger("IF OLD.id = 2 THEN RETURN NULL; END IF; RETURN NEW;");
  const auto all = close_all("1,2");
  EXPECT_THAT(all, ElementsAre(Field(&CloseAnswer::outcome, "closed"),
                               Field(&CloseAnswer::outcome, "failed")));
  EXPECT_EQ(all.at(1).detail, "update changed no row");
  EXPECT_EQ(count("order_timeout.outbox"), 1);
}

TEST_F(CloseEvents, ATriggerThatKeepsTheStatusIsAFailureWithoutEvents) {
  place(1, 71);
  order_trigger("NEW.status = OLD.status; RETURN NEW;");
  EXPECT_EQ(outcome(1), "failed");
  EXPECT_EQ(count("order_timeout.outbox"), 0);
}

TEST_F(CloseEvents, TwoClosersOfTheSameOrderGiveOneEvent) {
  place(1, 71);
  Session other(server_.url(database_, "order_timeout_daemon"));
  daemon_.begin();
  EXPECT_EQ(outcome(1), "closed");
  EXPECT_EQ(
      answers(other.rows("SELECT * FROM order_timeout.close_orders('{1}', NULL)")).at(0).outcome,
      "locked");
  daemon_.commit();
  EXPECT_EQ(
      answers(other.rows("SELECT * FROM order_timeout.close_orders('{1}', NULL)")).at(0).outcome,
      "already_closed");
  EXPECT_EQ(count("order_timeout.outbox"), 1);
}

}  // namespace
}  // namespace order_timeout::testing
