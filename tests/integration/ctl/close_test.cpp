// Proves the operator's last resort: `close` with the daemon down takes what is asked for and
// nothing else, refuses what must not be closed, says so by its exit code, and leaves its record.
#include <sstream>

#include "ctl_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kNothingMatched = 4;
constexpr int kRefusedByGuard = 5;
constexpr int kBadUsage = 64;
constexpr int kUnavailable = 69;
constexpr int kNoPermission = 77;

const std::string kHourAgo = "now() - interval '1 hour'";

class ClosingByHand : public CtlFixture {
 protected:
  ClosingByHand() { put_rules_in_force(); }

  static std::string order_no(std::int64_t id) { return "SO" + std::to_string(id); }
  std::string utc(const std::string& expression) {
    return shop_.value("select to_char((" + expression +
                       ") at time zone 'UTC',"
                       " 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')");
  }
  std::int64_t closed() { return count("t_order where status = 'CLOSED'"); }
};

TEST_F(ClosingByHand, ByOrderNumberWithItsRecordAndOneEvent) {
  const PlacedOrders placed = place_orders(5, "default", kHourAgo);
  const ProgramRun run = operate({"close", "--order-no", order_no(placed.first),
                                  order_no(placed.last), "--reason", "it's broken"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("closed: 2"));
  EXPECT_EQ(status_of(placed.first), "CLOSED");
  EXPECT_EQ(status_of(placed.last), "CLOSED");
  EXPECT_EQ(closed(), 2);
  EXPECT_EQ(
      count("order_timeout.sweep_run where kind = 'MANUAL' and status = 'SUCCESS' and closed ="
            " 2 and detail ->> 'reason' = 'it''s broken' and detail ->> 'by' <> '' and"
            " detail ->> 'host' <> '' and finished_at is not null"),
      1);
  expect_closed_once();
  expect_one_event();
  daemon_.start();  // the events wait for the daemon, and so does the audit log
  EXPECT_TRUE(await_released(5));
  ASSERT_TRUE(daemon_.await_audit("order_no=" + order_no(placed.last)));
  expect_books_balance();
}

TEST_F(ClosingByHand, IsInTheAuditLogOnceAlsoWithTheDaemonDown) {
  const PlacedOrders placed = place_orders(2, "default", kHourAgo);
  ASSERT_EQ(operate({"close", "--order-no", order_no(placed.first), order_no(placed.last),
                     "--reason", "it's broken"})
                .exit_code,
            0);
  daemon_.setup().extra.clear();  // with the line that names the port of /metrics
  for (int start = 0; start < 2; ++start) {
    daemon_.start();
    ASSERT_TRUE(daemon_.await_ready());
    EXPECT_TRUE(
        await_count("order_timeout.sweep_run where kind = 'MANUAL' and audited_at is null", 0));
    if (start == 0) {
      EXPECT_THAT(daemon_.http_get("/metrics").body,
                  HasSubstr("closed_total{business_line=\"default\",source=\"manual\"} 2"));
    }
    ASSERT_EQ(daemon_.terminate(), 0);
  }
  std::vector<std::string> by_hand;
  std::istringstream audit(daemon_.audit_text());
  for (std::string line; std::getline(audit, line);) {
    if (line.find("source=manual") != std::string::npos) by_hand.push_back(line);
  }
  ASSERT_EQ(by_hand.size(), 2U);
  for (const std::string& line : by_hand) {
    EXPECT_THAT(
        line, AllOf(HasSubstr("order_no=SO"), HasSubstr("business_line=default"), HasSubstr("by="),
                    HasSubstr("reason=\"it's broken\""), HasSubstr("host="), HasSubstr("at=")));
  }
}

TEST_F(ClosingByHand, ByUserLineTimeAndLimit) {
  place_orders(10, "default", kHourAgo);
  shop_.exec("update t_order set user_id = 777 where id % 5 = 0");
  EXPECT_EQ(operate({"close", "--user", "777", "--reason", "r"}).exit_code, 0);
  EXPECT_EQ(closed(), 2);
  EXPECT_EQ(count("t_order where status = 'CLOSED' and user_id <> 777"), 0);

  place_orders(10, "promo", "now() - n * interval '1 hour'");
  EXPECT_EQ(
      operate({"close", "--business-line", "promo", "--from", utc("now() - interval '5.5 hours'"),
               "--to", utc("now() - interval '2.5 hours'"), "--reason", "r"})
          .exit_code,
      0);
  EXPECT_EQ(count("t_order where status = 'CLOSED' and biz_line = 'promo'"), 3);
  EXPECT_EQ(count("t_order where status = 'CLOSED' and biz_line = 'promo' and created_at between"
                  " now() - interval '5.4 hours' and now() - interval '2.6 hours'"),
            3);

  EXPECT_EQ(
      operate({"close", "--business-line", "promo", "--limit", "2", "--reason", "r"}).exit_code, 0);
  EXPECT_EQ(count("t_order where status = 'CLOSED' and biz_line = 'promo'"), 5);
  EXPECT_EQ(count("t_order where status = 'CLOSED' and biz_line = 'promo' and created_at <"
                  " now() - interval '8.9 hours'"),
            2)
      << "the limit takes the oldest";
}

TEST_F(ClosingByHand, OnlyDueOrdersUnlessAskedForOthers) {
  const auto fresh = place_order("now() + interval '1 hour'");
  const ProgramRun refused = operate({"close", "--order-no", order_no(fresh), "--reason", "r"});
  EXPECT_EQ(refused.exit_code, kNothingMatched);
  EXPECT_THAT(refused.err, HasSubstr("--not-due"));
  EXPECT_EQ(status_of(fresh), "WAIT_PAY");
  EXPECT_EQ(
      operate({"close", "--not-due", "--order-no", order_no(fresh), "--reason", "r"}).exit_code, 0);
  EXPECT_EQ(status_of(fresh), "CLOSED");
}

TEST_F(ClosingByHand, ADryRunClosesNothing) {
  const PlacedOrders placed = place_orders(3, "default", kHourAgo);
  const ProgramRun run =
      operate({"--json", "close", "--business-line", "default", "--dry-run", "--reason", "r"});
  EXPECT_EQ(run.exit_code, 0);
  const boost::json::value document = boost::json::parse(run.out);
  EXPECT_EQ(document.at("orders").as_array().size(), 3U);
  EXPECT_EQ(document.at("orders").at(0).at("order_no"), order_no(placed.first).c_str());
  EXPECT_EQ(closed(), 0);
  EXPECT_EQ(count("order_timeout.sweep_run where kind = 'MANUAL'"), 0);
}

TEST_F(ClosingByHand, NeitherHeldNorPaidOrders) {
  const auto held = place_order(kHourAgo);
  const auto evidence = place_order(kHourAgo);
  const auto paid = place_order(kHourAgo);
  shop_.exec("insert into order_timeout.hold (order_id, reason, \"by\") values (" +
             std::to_string(held) + ", 'fraud', 'kim')");
  shop_.exec("insert into t_payment (payment_id, order_id, status) values ('P', " +
             std::to_string(evidence) + ", 'SUCCESS')");
  shop_.exec("update t_order set status = 'PAID' where id = " + std::to_string(paid));
  const ProgramRun run = operate({"--json", "close", "--not-due", "--order-no", order_no(held),
                                  order_no(evidence), order_no(paid), "--reason", "r"});
  EXPECT_EQ(run.exit_code, kNothingMatched);
  const boost::json::value document = boost::json::parse(run.out);
  std::vector<std::string> outcomes;
  for (const auto& order : document.at("orders").as_array()) {
    outcomes.emplace_back(order.at("outcome").as_string());
  }
  EXPECT_THAT(outcomes, ElementsAre("held", "payment_evidence"));
  EXPECT_EQ(closed(), 0);
  EXPECT_EQ(status_of(paid), "PAID");
}

TEST_F(ClosingByHand, MoreThanAThousandOnlyWithALimit) {
  place_orders(1'001, "default", kHourAgo);
  EXPECT_EQ(operate({"close", "--business-line", "default", "--reason", "r"}).exit_code,
            kRefusedByGuard);
  EXPECT_EQ(closed(), 0);
  EXPECT_EQ(operate({"close", "--business-line", "default", "--limit", "2000", "--reason", "r"})
                .exit_code,
            0);
  EXPECT_EQ(closed(), 1'001);
  expect_closed_once();
  expect_one_event();
}

TEST_F(ClosingByHand, NotAsTheDaemonsRole) {
  const auto id = place_order(kHourAgo);
  const ProgramRun run = ctl({"close", "--order-no", order_no(id), "--reason", "r"});
  EXPECT_EQ(run.exit_code, kNoPermission) << run.err;
  EXPECT_THAT(run.err, HasSubstr("order_timeout_operator"));
  EXPECT_EQ(closed(), 0);
}

TEST_F(ClosingByHand, NeedsAReasonAndOneWayToChoose) {
  const auto id = place_order(kHourAgo);
  EXPECT_EQ(operate({"close", "--order-no", order_no(id)}).exit_code, kBadUsage);
  EXPECT_EQ(operate({"close", "--order-no", order_no(id), "--reason", ""}).exit_code, kBadUsage);
  EXPECT_EQ(operate({"close", "--reason", "r"}).exit_code, kBadUsage);
  EXPECT_EQ(operate({"close", "--user", "1", "--business-line", "x", "--reason", "r"}).exit_code,
            kBadUsage);
  EXPECT_EQ(
      operate({"close", "--order-no", order_no(id), "--limit", "0", "--reason", "r"}).exit_code,
      kBadUsage);
  EXPECT_EQ(
      operate({"close", "--order-no", order_no(id), "--from", "yesterday-ish", "--reason", "r"})
          .exit_code,
      kBadUsage);
  EXPECT_EQ(operate({"abolish"}).exit_code, kBadUsage);
  EXPECT_EQ(closed(), 0);
}

TEST_F(ClosingByHand, UnknownOrdersMatchNothing) {
  EXPECT_EQ(operate({"close", "--order-no", "NOSUCH", "--reason", "r"}).exit_code, kNothingMatched);
}

TEST_F(ClosingByHand, SaysThatTheDatabaseIsNotThere) {
  const ProgramRun run = ctl_on("postgresql:///x?host=/nonexistent&user=nobody",
                                {"close", "--order-no", "X", "--reason", "r"});
  EXPECT_EQ(run.exit_code, kUnavailable) << run.err;
}

}  // namespace
}  // namespace order_timeout::testing
