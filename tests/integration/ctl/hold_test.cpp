// Proves that an operator holds, lets go and extends single orders with the daemon down as with it
// up, sees who holds what and why, and that a running daemon follows at once and writes it down.
#include <boost/json.hpp>

#include "ctl_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kNothingMatched = 4;
constexpr int kBadUsage = 64;
constexpr int kNoPermission = 77;

const std::string kHourAgo = "now() - interval '1 hour'";

class Holding : public CtlFixture {
 protected:
  Holding() { put_rules_in_force(); }

  static std::string order_no(std::int64_t id) { return "SO" + std::to_string(id); }
};

TEST_F(Holding, KeepsAnOrderOpenAndSaysWhoWhyAndSinceWhen) {
  const std::int64_t id = place_order(kHourAgo);
  const ProgramRun run = operate({"hold", order_no(id), "--reason", "customer called"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, order_no(id) + "  held\n");

  const ProgramRun list = operate({"--json", "hold", "list"});
  ASSERT_EQ(list.exit_code, 0) << list.err;
  const auto document = boost::json::parse(list.out);
  const auto& held = document.at("held").at(0).as_object();
  EXPECT_EQ(held.at("order_no"), order_no(id).c_str());
  EXPECT_EQ(held.at("reason"), "customer called");
  EXPECT_NE(held.at("by").as_string(), "");
  EXPECT_EQ(held.at("since"),
            shop_.value("select order_timeout.rfc3339(at) from order_timeout.hold").c_str());

  daemon_.start();
  ASSERT_TRUE(daemon_.await_audit("close: held order_no=" + order_no(id)));
  EXPECT_TRUE(daemon_.await_audit("order: held order_no=" + order_no(id)));
  EXPECT_EQ(status_of(id), "WAIT_PAY");
}

TEST_F(Holding, LettingGoClosesAtOnceWhileTheDaemonRuns) {
  const std::int64_t id = place_order(kHourAgo);
  ASSERT_EQ(operate({"hold", order_no(id), "--reason", "r"}).exit_code, 0);
  daemon_.start();
  ASSERT_TRUE(daemon_.await_ready());
  const ProgramRun run = operate({"unhold", order_no(id), "--reason", "it was nothing"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(await_count("t_order where status = 'CLOSED'", 1, std::chrono::milliseconds{10'000}));
  EXPECT_TRUE(daemon_.await_audit("order: unheld order_no=" + order_no(id)));
  EXPECT_THAT(daemon_.audit_text(), HasSubstr("reason=\"it was nothing\""));
  EXPECT_TRUE(await_released(1));
  expect_books_balance();
}

TEST_F(Holding, LetsGoOfAllThatOneHolds) {
  const PlacedOrders placed = place_orders(3, "default", kHourAgo);
  shop_.exec("insert into order_timeout.hold select id, 'gateway', 'payment_check' from t_order");
  const std::int64_t mine = place_order(kHourAgo);
  operate({"hold", order_no(mine), "--reason", "r"});
  const ProgramRun run =
      operate({"unhold", "--by", "payment_check", "--all", "--reason", "gateway was wrong"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr(order_no(placed.first) + "  unheld\n"));
  EXPECT_EQ(shop_.value("select string_agg(order_id::text, ',') from order_timeout.hold"),
            std::to_string(mine));
  EXPECT_EQ(operate({"unhold", "--by", "payment_check", "--all", "--reason", "r"}).exit_code,
            kNothingMatched);
}

TEST_F(Holding, SaysWhatCannotBeHeldOrLetGo) {
  const std::int64_t id = place_order(kHourAgo);
  shop_.exec("update t_order set status = 'PAID'");
  const ProgramRun paid = operate({"hold", order_no(id), "NO-SUCH", "--reason", "r"});
  EXPECT_EQ(paid.exit_code, kNothingMatched);
  EXPECT_EQ(paid.out, order_no(id) + "  already_paid\nNO-SUCH  missing\n");
  EXPECT_EQ(operate({"unhold", order_no(id), "--reason", "r"}).out, order_no(id) + "  not_held\n");
}

TEST_F(Holding, NeedsAReasonAndTheOperatorsRole) {
  const std::int64_t id = place_order(kHourAgo);
  EXPECT_EQ(operate({"hold", order_no(id)}).exit_code, kBadUsage);
  EXPECT_EQ(operate({"hold", order_no(id), "--reason", " "}).exit_code, kBadUsage);
  EXPECT_EQ(operate({"hold", "--reason", "r"}).exit_code, kBadUsage);
  EXPECT_EQ(operate({"unhold", "--by", "payment_check", "--reason", "r"}).exit_code, kBadUsage);
  EXPECT_EQ(operate({"unhold", "--reason", "r"}).exit_code, kBadUsage);
  EXPECT_EQ(ctl({"hold", order_no(id), "--reason", "r"}).exit_code, kNoPermission);
  EXPECT_EQ(count("order_timeout.hold"), 0);
}

TEST_F(Holding, ExtendsFromTheDeadlineUntilAnInstantAndSooner) {
  const std::int64_t id = place_order("now() + interval '1 hour'");
  const auto deadline = [&] {
    return shop_.value(
        "select deadline - o.created_at from order_timeout.deadline_override d join "
        "t_order o on o.id = d.order_id");
  };
  const ProgramRun run = operate({"extend", order_no(id), "--by", "10m", "--reason", "asked"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(deadline(), "00:10:01");
  EXPECT_THAT(run.out, HasSubstr(order_no(id) + "  pay deadline 20"));
  operate({"extend", order_no(id), "--by", "10m", "--reason", "asked"});
  EXPECT_EQ(deadline(), "00:20:01");
  ASSERT_EQ(
      operate({"extend", order_no(id), "--until", "2100-01-01T08:00:00+08:00", "--reason", "asked"})
          .exit_code,
      0);
  EXPECT_EQ(shop_.value("select deadline from order_timeout.deadline_override"),
            "2100-01-01 00:00:00+00");
}

TEST_F(Holding, RefusesAnExtensionThatMeansNothing) {
  const std::int64_t id = place_order();
  EXPECT_EQ(operate({"extend", order_no(id), "--reason", "r"}).exit_code, kBadUsage);
  EXPECT_EQ(operate({"extend", order_no(id), "--by", "10", "--reason", "r"}).exit_code, kBadUsage);
  EXPECT_EQ(operate({"extend", order_no(id), "--by", "10m"}).exit_code, kBadUsage);
  EXPECT_EQ(operate({"extend", "NO-SUCH", "--by", "10m", "--reason", "r"}).exit_code,
            kNothingMatched);
  shop_.exec("update t_order set status = 'PAID'");
  EXPECT_EQ(operate({"extend", order_no(id), "--by", "10m", "--reason", "r"}).exit_code,
            kNothingMatched);
  EXPECT_EQ(count("order_timeout.deadline_override"), 0);
}

TEST_F(Holding, AShorterDeadlineIsHonouredWithinSecondsByARunningDaemon) {
  daemon_.start();
  ASSERT_TRUE(daemon_.await_ready());
  const std::int64_t id = place_order("clock_timestamp() + interval '1 hour'");
  const std::int64_t other = place_order("clock_timestamp() + interval '1 hour'");
  const std::string minute_ago =
      shop_.value("select order_timeout.rfc3339(now() - interval '1 minute')");
  ASSERT_EQ(operate({"extend", order_no(id), "--until", minute_ago, "--reason", "r"}).exit_code, 0);
  EXPECT_TRUE(await_count("t_order where status = 'CLOSED'", 1, std::chrono::milliseconds{10'000}));
  EXPECT_EQ(status_of(id), "CLOSED");
  EXPECT_EQ(status_of(other), "WAIT_PAY");
  EXPECT_TRUE(daemon_.await_audit("order: extended order_no=" + order_no(id)));
}

}  // namespace
}  // namespace order_timeout::testing
