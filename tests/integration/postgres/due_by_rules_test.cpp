// Proves the preview of a change of rules: it counts exactly the orders that would be closed at
// once and would not be under the rules in force, by the line whose rule does it, and changes
// nothing.
#include "integration/postgres/store_fixture.hpp"

namespace order_timeout::postgres {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// In force: the default line alone, 60 s + 10 s.
class DueByRulesTest : public StoreFixture {
 protected:
  static BusinessLine line_of(Duration timeout, LineAction action = LineAction::close) {
    BusinessLine line;
    line.timeout = timeout;
    line.grace = 0s;
    line.action = action;
    return line;
  }
  std::map<std::string, std::int64_t> due(std::map<std::string, BusinessLine> lines,
                                          Duration max_age = 720h) {
    RuleSet rules;
    rules.lines = std::move(lines);
    rules.max_age = max_age;
    const DueByRules result = await(control_.due_by_rules(rules)).value();
    std::int64_t total = 0;
    for (const auto& [name, orders] : result.orders) total += orders;
    EXPECT_EQ(result.total, total);
    return result.orders;
  }
};

TEST_F(DueByRulesTest, CountsWhatAShorterTimeoutMakesDueByTheLineWhoseRuleItIs) {
  place(1, 40, "flash");
  place(2, 40, "flash");
  place(3, 40, "other");
  place(4, 10, "flash");   // not yet
  place(5, 100, "flash");  // due already
  EXPECT_THAT(due({{"default", line_of(60s)}, {"flash", line_of(30s)}}),
              ElementsAre(Pair("flash", 2)));
  EXPECT_THAT(due({{"default", line_of(30s)}, {"flash", line_of(30s)}}),
              ElementsAre(Pair("default", 1), Pair("flash", 2)));
  EXPECT_THAT(due({{"default", line_of(2h)}}), IsEmpty());
  EXPECT_EQ(status_of(1), "WAIT_PAY");
  EXPECT_EQ(shop_.value("SELECT count(*) FROM order_timeout.rule WHERE business_line = 'flash'"),
            "0");
}

TEST_F(DueByRulesTest, CountsOrdersThatWereLeftAloneBefore) {
  place(1, 1'000, "hotel");
  place(2, 3'000, "hotel");
  apply_rules(R"("hotel":{"timeout_ms":60000,"grace_ms":0,"action":"review","on_close":[]})");
  EXPECT_THAT(due({{"hotel", line_of(60s, LineAction::review)}}), IsEmpty());
  EXPECT_THAT(due({{"hotel", line_of(60s, LineAction::shadow)}}), IsEmpty());
  EXPECT_THAT(due({{"hotel", line_of(60s)}}), ElementsAre(Pair("hotel", 2)));
  EXPECT_THAT(due({{"hotel", line_of(60s)}}, 2'000s), ElementsAre(Pair("hotel", 1))) << "too old";
}

TEST_F(DueByRulesTest, CountsWhatALongerMaximumAgeLetsIn) {
  apply_rules(R"("default":{"timeout_ms":60000,"grace_ms":0,"action":"close","on_close":[]})",
              "\"max_age_ms\":3600000");
  place(1, 2 * 3'600 + 60);
  EXPECT_THAT(due({{"default", line_of(60s)}}, 1h), IsEmpty());
  EXPECT_THAT(due({{"default", line_of(60s)}}, 3h), ElementsAre(Pair("default", 1)));
}

TEST_F(DueByRulesTest, HeedsDeadlinesOfTheirOwnAndHolds) {
  for (int id = 1; id <= 3; ++id) place(id, 40);
  shop_.exec(
      "INSERT INTO order_timeout.deadline_override (order_id, deadline) VALUES (1, now() + "
      "interval "
      "'1 h'); INSERT INTO order_timeout.hold (order_id, reason, \"by\") VALUES (2, 'r', 'lin')");
  EXPECT_THAT(due({{"default", line_of(30s)}}), ElementsAre(Pair("default", 1)));
}

TEST_F(DueByRulesTest, CountsEverythingOverdueWhereNoRuleIsInForce) {
  place(1, 100);
  place(2, 100);
  shop_.exec("DELETE FROM order_timeout.rule");
  EXPECT_THAT(due({{"default", line_of(60s)}}), ElementsAre(Pair("default", 2)));
}

// A statement that waits for a lock stands for one that has too many orders to count.
TEST_F(DueByRulesTest, SaysThatItCouldNotCountInTimeAndNeedsNoCountForRulesInForce) {
  config_.database.statement_timeout = 300ms;
  Bulkhead bulkhead(loop_.get_executor(), config_.database);
  ControlStore control(bulkhead, config_);
  RuleSet same;
  same.max_age = 720h;
  same.lines["default"] = line_of(60s);
  same.lines["default"].grace = 10s;
  RuleSet other = same;
  other.lines["default"].timeout = 50s;
  shop_.begin();
  shop_.exec("LOCK TABLE t_order IN ACCESS EXCLUSIVE MODE");
  EXPECT_TRUE(await(control.due_by_rules(same)).value().counted);
  EXPECT_FALSE(await(control.due_by_rules(other)).value().counted);
  shop_.commit();
  EXPECT_TRUE(await(control.due_by_rules(other)).value().counted);
}

TEST_F(DueByRulesTest, APauseIsKeptAndReadBack) {
  Pause pause;
  pause.scope = "all";
  pause.by = "guard";
  pause.reason = "too many";
  shop_.exec(
      "INSERT INTO order_timeout.pause (scope, until, \"by\", reason) VALUES ('all', now() + "
      "interval '1 h', 'kim', 'short'), ('line:old', now() - interval '1 s', 'kim', 'over')");
  ASSERT_TRUE(await(control_.pause(pause)));
  EXPECT_THAT(await(control_.pauses()).value(), ElementsAre(pause)) << "and it has no end any more";
  Pause second = pause;
  second.reason = "once more";
  ASSERT_TRUE(await(control_.pause(second)));
  EXPECT_THAT(await(control_.pauses()).value(), ElementsAre(pause));
}

TEST_F(DueByRulesTest, AMappingThatDoesNotFitNamesColumnAndTypes) {
  shop_.exec(
      "UPDATE order_timeout.shop_mapping SET columns = columns || '{\"amount_cents\": \"text\"}',"
      " other_tables = replace(other_tables::text, '\"qty\": \"integer\"', '\"qty\": "
      "\"bigint\"')::jsonb");
  EXPECT_THAT(await(control_.mapping_state()).value().detail,
              ::testing::HasSubstr("column amount_cents of \"public\".\"t_order\" was text, is "));
  shop_.exec(
      "UPDATE order_timeout.shop_mapping SET columns = columns || '{\"amount_cents\": "
      "\"bigint\"}'");
  EXPECT_THAT(
      await(control_.mapping_state()).value().detail,
      ::testing::HasSubstr("column qty of \"public\".\"t_order_item\" was bigint, is integer"));
}

}  // namespace
}  // namespace order_timeout::postgres
