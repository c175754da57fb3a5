// Proves that apply_rules() writes the business lines whole or not at all, counts revisions, and
// that the smaller functions beside it (quarantine, retirement, oldest transaction, times) keep
// their promises.
#include "support/close_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::ElementsAre;

class Rules : public CloseFixture {
 protected:
  std::string apply(const std::string& revision, const std::string& timeout_ms) {
    return daemon_.value("SELECT order_timeout.apply_rules(" + revision + ", '" +
                         rules(timeout_ms) + "')");
  }

  static std::string rules(const std::string& timeout_ms) {
    return R"({"max_age_ms":86400000,"lines":{"default":{"timeout_ms":)" + timeout_ms +
           R"(,"grace_ms":0,"action":"close","on_close":["B","A","B"]}}})";
  }
};

TEST_F(Rules, AreWrittenWholeWithIntervalsOfSecondsOnly) {
  apply("NULL", "172800000");
  EXPECT_THAT(
      shop_.rows(
          "SELECT business_line, timeout, grace, action, on_close, max_age, payment_max_delay "
          "FROM order_timeout.rule"),
      ElementsAre(
          Row{"default", "48:00:00", "00:00:00", "close", "{A,B}", "24:00:00", "00:10:00"}));
}

TEST_F(Rules, TheSameRulesKeepTheirRevisionAndWriteNothing) {
  const std::string first = apply("NULL", "1000");
  const std::string row = shop_.value("SELECT ctid || ' ' || xmin FROM order_timeout.rule");
  EXPECT_EQ(apply("NULL", "1000"), first);
  EXPECT_EQ(apply("77", "1000"), first);
  EXPECT_EQ(shop_.value("SELECT ctid || ' ' || xmin FROM order_timeout.rule"), row);
}

TEST_F(Rules, OtherRulesGetTheNextRevisionOrTheOneAskedFor) {
  const int first = std::stoi(apply("NULL", "1000"));
  EXPECT_EQ(std::stoi(apply("NULL", "2000")), first + 1);
  EXPECT_EQ(apply("100", "3000"), "100");
  const auto error =
      daemon_.refused("SELECT order_timeout.apply_rules(100, '" + rules("4000") + "')");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(shop_.value("SELECT timeout FROM order_timeout.rule"), "00:00:03");
}

TEST_F(Rules, ALineThatIsGoneIsGone) {
  apply_rules(R"("a":{"timeout_ms":1000,"grace_ms":0,"action":"close","on_close":[]},
                 "b":{"timeout_ms":1000,"grace_ms":0,"action":"close","on_close":[]})");
  apply_rules(R"("b":{"timeout_ms":1000,"grace_ms":0,"action":"close","on_close":[]})");
  EXPECT_THAT(shop_.rows("SELECT business_line FROM order_timeout.rule"), ElementsAre(Row{"b"}));
}

TEST_F(Rules, BadRulesChangeNothing) {
  const std::string before = shop_.value("SELECT rule::text FROM order_timeout.rule");
  for (const std::string bad :
       {R"({"timeout_ms":0,"grace_ms":0,"action":"close","on_close":[]})",
        R"({"timeout_ms":1000,"grace_ms":0,"action":"destroy","on_close":[]})",
        R"({"timeout_ms":1000,"action":"close","on_close":[]})",
        R"({"timeout_ms":1000,"grace_ms":0,"action":"close","on_close":["release_stock"]})"}) {
    EXPECT_TRUE(daemon_.refused(
        "SELECT order_timeout.apply_rules(NULL, '{\"lines\":{\"default\":" + bad + "}}')"))
        << bad;
  }
  EXPECT_EQ(shop_.value("SELECT rule::text FROM order_timeout.rule"), before);
}

TEST_F(Rules, ASecondWriterWaitsForTheFirst) {
  daemon_.begin();
  const std::string first = apply("NULL", "1000");
  Session other(server_.url(database_, "order_timeout_daemon"));
  auto second = other.rows_later("SELECT order_timeout.apply_rules(NULL, '" + rules("1000") + "')");
  EXPECT_TRUE(wait_until_blocked(shop_, other.backend_pid()));
  daemon_.commit();
  EXPECT_THAT(second.get(), ElementsAre(Row{first}));
}

TEST_F(Rules, AQuarantinedOrderWaitsTwiceAsLongEachTimeUpToAnHour) {
  std::vector<std::string> waits;
  for (int attempt = 1; attempt <= 8; ++attempt) {
    daemon_.exec("SELECT order_timeout.quarantine_order(1, 'P0001', 'boom')");
    waits.push_back(
        shop_.value("SELECT round(extract(epoch FROM next_attempt_at - now()) / 60) FROM "
                    "order_timeout.quarantine"));
  }
  EXPECT_THAT(waits, ElementsAre("1", "2", "4", "8", "16", "32", "60", "60"));
  EXPECT_EQ(
      shop_.value("SELECT attempts || reason || sqlstate || error FROM order_timeout.quarantine"),
      "8failedP0001boom");
}

TEST_F(Rules, RetiredEventsLeaveTheirOrdersRemembered) {
  for (int id = 1; id <= 3; ++id) place(id, 71);
  close_all("1,2,3");
  shop_.exec(
      "UPDATE order_timeout.outbox SET status = 'SUCCESS', finished_at = now() - interval '8 days' "
      "WHERE order_id < 3;"
      "UPDATE order_timeout.outbox SET status = 'SUCCESS', finished_at = now() - interval '6 days' "
      "WHERE order_id = 3");
  EXPECT_EQ(daemon_.value("SELECT order_timeout.retire_events('7 days', 1)"), "1");
  EXPECT_EQ(daemon_.value("SELECT order_timeout.retire_events('7 days', 100)"), "1");
  EXPECT_EQ(daemon_.value("SELECT order_timeout.retire_events('7 days', 100)"), "0");
  EXPECT_THAT(shop_.rows("SELECT order_id FROM order_timeout.closed_order ORDER BY 1"),
              ElementsAre(Row{"1"}, Row{"2"}));
  shop_.exec("UPDATE t_order SET status = 'WAIT_PAY'");
  EXPECT_EQ(outcome(1), "reopened");
}

TEST_F(Rules, TheOldestTransactionIsFoundRunningOrPrepared) {
  const std::string oldest = "SELECT order_timeout.oldest_transaction_start()";
  Session other(server_.url(database_));
  daemon_.begin();
  EXPECT_EQ(daemon_.value(oldest), daemon_.value("SELECT now()"));
  daemon_.commit();
  other.begin();
  const std::string started = other.value("SELECT now()");
  EXPECT_EQ(daemon_.value(oldest), started);
  other.exec("INSERT INTO t_order (id, order_no) VALUES (1, 'N1')");
  other.exec("PREPARE TRANSACTION 'slow'");
  EXPECT_EQ(
      daemon_.value(oldest),
      shop_.value("SELECT prepared FROM pg_prepared_xacts WHERE database = '" + database_ + "'"));
  shop_.exec("ROLLBACK PREPARED 'slow'");
}

TEST_F(Rules, TheOldestTransactionIsUnknownWithoutTheRight) {
  shop_.begin();
  shop_.exec("REVOKE pg_read_all_stats FROM order_timeout_owner");
  shop_.exec("SET LOCAL ROLE order_timeout_owner");
  EXPECT_EQ(shop_.value("SELECT order_timeout.oldest_transaction_start()"), "NULL");
  shop_.rollback();
}

TEST_F(Rules, MillisecondsRoundUpAndEndAtInfinity) {
  const std::string ms = "SELECT order_timeout.epoch_ms(";
  EXPECT_EQ(shop_.value(ms + "'2026-01-01 00:00:00.123+00')"), "1767225600123");
  EXPECT_EQ(shop_.value(ms + "'2026-01-01 00:00:00.123001+00')"), "1767225600124");
  EXPECT_EQ(shop_.value(ms + "'1969-12-31 23:59:59.9999+00')"), "0");
  EXPECT_EQ(shop_.value(ms + "'infinity')"), "9223372036854775807");
  EXPECT_EQ(shop_.value(ms + "'-infinity')"), "-9223372036854775808");
  EXPECT_EQ(shop_.value(ms + "NULL)"), "NULL");
}

TEST_F(Rules, InstantsComeBackFromMilliseconds) {
  const std::string back = "SELECT order_timeout.from_epoch_ms(";
  EXPECT_EQ(shop_.value(back + "1767225600123)"), "2026-01-01 00:00:00.123+00");
  EXPECT_EQ(shop_.value(back + "-1)"), "1969-12-31 23:59:59.999+00");
  EXPECT_EQ(shop_.value(back + "9223372036854775807)"), "infinity");
  EXPECT_EQ(shop_.value(back + "'-9223372036854775808'::bigint)"), "-infinity");
  EXPECT_EQ(shop_.value(back + "9223372036854775)"), "infinity");
  EXPECT_EQ(shop_.value(back + "-210866803200001)"), "-infinity");
}

}  // namespace
}  // namespace order_timeout::testing
