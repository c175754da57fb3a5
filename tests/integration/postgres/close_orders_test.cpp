// Proves the verdicts of close_orders(): each order gets exactly the outcome that its row, its rule
// and what people put beside it ask for, and nothing but `closed` changes the order. Every test
// runs as the daemon's role.
#include "support/close_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

class CloseOrders : public CloseFixture {};

constexpr const char* kLines =
    R"("default":{"timeout_ms":60000,"grace_ms":10000,"action":"close","on_close":["RELEASE_STOCK"]},
       "flash":{"timeout_ms":5000,"grace_ms":1000,"action":"close","on_close":[]},
       "hotel":{"timeout_ms":60000,"grace_ms":10000,"action":"review","on_close":[]},
       "trial":{"timeout_ms":60000,"grace_ms":10000,"action":"shadow","on_close":[]},
       "never":{"timeout_ms":60000,"grace_ms":10000,"action":"ignore","on_close":[]})";

TEST_F(CloseOrders, ClosesADueOrderAndSaysSo) {
  place(1, 71);
  const std::string due = shop_.value(
      "SELECT ceil(extract(epoch FROM created_at + interval '70 s') * 1000)::bigint FROM t_order");
  const CloseAnswer answer = close(1, "0");
  EXPECT_EQ(answer.outcome, "closed");
  EXPECT_EQ(answer.version, "1");
  EXPECT_EQ(answer.order_no, "N1");
  EXPECT_EQ(answer.business_line, "shop");
  EXPECT_EQ(answer.due_ms, due);
  EXPECT_EQ(answer.retry_ms, "NULL");
  EXPECT_EQ(answer.detail, "deadline_from=timeout");
  EXPECT_EQ(shop_.value(
                "SELECT status || version || (closed_at > now() - interval '1 min') FROM t_order"),
            "CLOSED1true");
}

TEST_F(CloseOrders, LeavesAnOrderThatIsNotDueAndNamesItsDeadline) {
  place(1, 69);
  const CloseAnswer answer = close(1);
  EXPECT_EQ(answer.outcome, "not_due");
  EXPECT_EQ(answer.due_ms,
            shop_.value("SELECT ceil(extract(epoch FROM created_at + interval '70 s') * "
                        "1000)::bigint FROM t_order"));
  EXPECT_EQ(answer.retry_ms, answer.due_ms);
  EXPECT_EQ(answer.detail, "deadline_from=timeout");
  EXPECT_EQ(status_of(1), "WAIT_PAY");
}

TEST_F(CloseOrders, JudgesAtTheVeryMicrosecondOfTheDeadline) {
  place(1, 0);
  place(2, 0);
  daemon_.begin();  // now() stands still in a transaction
  const std::string now = "timestamptz '" + daemon_.value("SELECT now()") + "'";
  shop_.exec("UPDATE t_order SET created_at = " + now + " - interval '69.999999 s' WHERE id = 1");
  shop_.exec("UPDATE t_order SET created_at = " + now + " - interval '70 s' WHERE id = 2");
  EXPECT_THAT(close_all("1,2"), ElementsAre(Field(&CloseAnswer::outcome, "not_due"),
                                            Field(&CloseAnswer::outcome, "closed")));
  daemon_.rollback();
}

TEST_F(CloseOrders, ObeysAnOverriddenDeadline) {
  place(1, 71);
  place(2, 0);
  place(3, 71);
  shop_.exec(
      "INSERT INTO order_timeout.deadline_override (order_id, deadline) VALUES "
      "(1, now() + interval '1 h'), (2, now() - interval '10 s'), (3, 'infinity')");
  const auto all = close_all("1,2,3");
  EXPECT_EQ(all.at(0).outcome, "not_due");
  EXPECT_EQ(all.at(0).detail, "deadline_from=override");
  EXPECT_EQ(all.at(1).outcome, "closed");
  EXPECT_EQ(all.at(1).detail, "deadline_from=override");
  EXPECT_EQ(all.at(2).outcome, "not_due");
  EXPECT_EQ(all.at(2).retry_ms, "9223372036854775807");
}

TEST_F(CloseOrders, AnswersEachOrderOnceInWhateverNumberItIsAsked) {
  place(1, 71);
  place(2, 71);
  EXPECT_THAT(close_all("2,1,2,1,NULL,99"), ElementsAre(Field(&CloseAnswer::outcome, "closed"),
                                                        Field(&CloseAnswer::outcome, "closed"),
                                                        Field(&CloseAnswer::outcome, "missing")));
  EXPECT_EQ(count("order_timeout.outbox"), 2);
  EXPECT_THAT(close_all(""), IsEmpty());
}

TEST_F(CloseOrders, LeavesOrdersThatAreNotPending) {
  for (int id = 1; id <= 3; ++id) place(id, 71);
  shop_.exec("UPDATE t_order SET status = (array['CLOSED', 'PAID', 'SHIPPED'])[id]");
  EXPECT_THAT(close_all("1,2,3"), ElementsAre(Field(&CloseAnswer::outcome, "already_closed"),
                                              Field(&CloseAnswer::outcome, "already_paid"),
                                              Field(&CloseAnswer::outcome, "other_status")));
  EXPECT_EQ(count("order_timeout.outbox"), 0);
  EXPECT_EQ(shop_.value("SELECT sum(version) FROM t_order"), "0");
}

TEST_F(CloseOrders, SaysThatTheVersionMovedAndWhereTo) {
  place(1, 71);
  shop_.exec("UPDATE t_order SET version = 5");
  const CloseAnswer moved = close(1, "4");
  EXPECT_EQ(moved.outcome, "version_moved");
  EXPECT_EQ(moved.version, "5");
  EXPECT_EQ(moved.detail, "version=5");
  EXPECT_EQ(status_of(1), "WAIT_PAY");
  EXPECT_EQ(close(1, "5").version, "6");
}

TEST_F(CloseOrders, PairsIdsAndVersions) {
  place(1, 71);
  place(2, 71);
  shop_.exec("UPDATE t_order SET version = id");
  EXPECT_THAT(close_all("2,1", "2,7"), ElementsAre(Field(&CloseAnswer::outcome, "version_moved"),
                                                   Field(&CloseAnswer::outcome, "closed")));
}

TEST_F(CloseOrders, SkipsALockedOrderAndClosesTheOthersAtOnce) {
  for (int id = 1; id <= 3; ++id) place(id, 71);
  Session payer(server_.url(database_));
  payer.begin();
  payer.exec("SELECT 1 FROM t_order WHERE id = 2 FOR UPDATE");
  EXPECT_THAT(close_all("1,2,3"), ElementsAre(Field(&CloseAnswer::outcome, "closed"),
                                              Field(&CloseAnswer::outcome, "locked"),
                                              Field(&CloseAnswer::outcome, "closed")));
  payer.rollback();
  EXPECT_EQ(outcome(2), "closed");
}

TEST_F(CloseOrders, TakesTheRuleOfTheLineElseDefault) {
  apply_rules(kLines);
  place(1, 7, "flash");
  place(2, 7, "unheard of");
  place(3, 71, "unheard of");
  place(4, 71);
  shop_.exec("UPDATE t_order SET biz_line = NULL WHERE id = 4");
  EXPECT_THAT(
      close_all("1,2,3,4"),
      ElementsAre(Field(&CloseAnswer::outcome, "closed"), Field(&CloseAnswer::outcome, "not_due"),
                  Field(&CloseAnswer::outcome, "closed"), Field(&CloseAnswer::outcome, "closed")));
}

TEST_F(CloseOrders, LeavesALineWithoutAnyRule) {
  apply_rules(R"("flash":{"timeout_ms":5000,"grace_ms":0,"action":"close","on_close":[]})");
  place(1, 71);
  const CloseAnswer answer = close(1);
  EXPECT_EQ(answer.outcome, "not_listed");
  EXPECT_EQ(answer.due_ms, "NULL");
}

TEST_F(CloseOrders, LeavesReviewShadowAndIgnoredLinesOpen) {
  apply_rules(kLines);
  place(1, 71, "hotel");
  place(2, 71, "trial");
  place(3, 71, "never");
  for (int again = 0; again < 2; ++again) {
    EXPECT_THAT(close_all("1,2,3"), ElementsAre(Field(&CloseAnswer::outcome, "for_review"),
                                                Field(&CloseAnswer::outcome, "shadowed"),
                                                Field(&CloseAnswer::outcome, "ignored")));
  }
  EXPECT_EQ(count("t_order WHERE status = 'WAIT_PAY'"), 3);
  EXPECT_EQ(shop_.value("SELECT string_agg(order_no || decision, ',') FROM order_timeout.review"),
            "N1WAITING");
  EXPECT_EQ(shop_.value(
                "SELECT string_agg(order_no || decision, ',') FROM order_timeout.shadow_decision"),
            "N2closed");
}

TEST_F(CloseOrders, LeavesAHeldOrderWithTheReason) {
  place(1, 71);
  shop_.exec(
      "INSERT INTO order_timeout.hold (order_id, reason, \"by\") VALUES (1, 'customer called', "
      "'lin')");
  const CloseAnswer answer = close(1);
  EXPECT_EQ(answer.outcome, "held");
  EXPECT_EQ(answer.detail, "customer called");
  EXPECT_EQ(status_of(1), "WAIT_PAY");
}

TEST_F(CloseOrders, RestsWhilePaused) {
  place(1, 71, "shop");
  place(2, 71, "other");
  shop_.exec(
      "INSERT INTO order_timeout.pause (scope, until, \"by\", reason) VALUES "
      "('line:shop', now() + interval '1 h', 'lin', 'sale')");
  const auto all = close_all("1,2");
  EXPECT_EQ(all.at(0).outcome, "paused");
  EXPECT_EQ(shop_.value("SELECT " + all.at(0).retry_ms +
                        " <= order_timeout.epoch_ms(now() + interval '5 s')"),
            "t")
      << "a pause that is ended early is noticed";
  EXPECT_EQ(all.at(1).outcome, "closed");
  shop_.exec("UPDATE order_timeout.pause SET until = now() - interval '1 s'");
  EXPECT_EQ(outcome(1), "closed");
}

TEST_F(CloseOrders, LooksAgainIn5SecondsWhilePausedWithoutEnd) {
  place(1, 71);
  shop_.exec(
      "INSERT INTO order_timeout.pause (scope, \"by\", reason) VALUES ('all', 'lin', 'sale')");
  daemon_.begin();
  const CloseAnswer answer = close(1);
  EXPECT_EQ(answer.outcome, "paused");
  EXPECT_EQ(answer.retry_ms,
            daemon_.value("SELECT order_timeout.epoch_ms(now() + interval '5 s')"));
  daemon_.commit();
}

TEST_F(CloseOrders, LeavesAQuarantinedOrderUntilItsNextTry) {
  place(1, 71);
  const std::string next =
      daemon_.value("SELECT order_timeout.quarantine_order(1, 'P0001', 'boom')");
  const CloseAnswer answer = close(1);
  EXPECT_EQ(answer.outcome, "failed");
  EXPECT_EQ(answer.detail, "quarantined");
  EXPECT_EQ(answer.retry_ms, next);
  shop_.exec("UPDATE order_timeout.quarantine SET next_attempt_at = now() - interval '1 s'");
  EXPECT_EQ(outcome(1), "closed");
  EXPECT_EQ(count("order_timeout.quarantine"), 0);
}

TEST_F(CloseOrders, LeavesWhatIsTooOld) {
  place(1, 70 + 30 * 86400 + 5);
  place(2, 70 + 30 * 86400 - 5);
  EXPECT_THAT(close_all("1,2"), ElementsAre(Field(&CloseAnswer::outcome, "too_old"),
                                            Field(&CloseAnswer::outcome, "closed")));
  apply_rules(R"("default":{"timeout_ms":60000,"grace_ms":10000,"action":"close","on_close":[]})",
              R"("max_age_ms":null)");
  EXPECT_EQ(outcome(1), "closed");
}

TEST_F(CloseOrders, LeavesAnOrderWithoutACreationTime) {
  shop_.exec("ALTER TABLE t_order ALTER created_at DROP NOT NULL");
  place(1, 71);
  shop_.exec("UPDATE t_order SET created_at = NULL");
  EXPECT_EQ(outcome(1), "not_due");
}

TEST_F(CloseOrders, RefusesEveryIsolationButReadCommitted) {
  place(1, 71);
  for (const std::string level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    daemon_.begin("ISOLATION LEVEL " + level);
    const auto error = daemon_.refused("SELECT * FROM order_timeout.close_orders('{1}', NULL)");
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->sqlstate, "25000");
    daemon_.rollback();
  }
  EXPECT_EQ(status_of(1), "WAIT_PAY");
}

}  // namespace
}  // namespace order_timeout::testing
