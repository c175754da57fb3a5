// Proves that `check` finds what would hurt and says so by its exit code, and that `status` tells
// of daemon and database whether the daemon runs or not.
#include "ctl_fixture.hpp"
#include "support/redis_server.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kProblemsFound = 3;
constexpr int kUnavailable = 69;
constexpr int kBadConfiguration = 78;

const std::string kNobody = "postgresql:///x?host=/nonexistent&user=nobody";

// No sink takes it.
const std::string kWaitingRefund =
    "insert into order_timeout.outbox (event_key, order_id, order_no, event_type, payload, due)"
    " values ('9:REFUND:P', 9, 'SO9', 'REFUND', '{}', now())";

class Checking : public CtlFixture {};

TEST_F(Checking, APreparedDatabaseHasNoProblems) {
  const ProgramRun run = ctl({"check"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("ok    schema"));
  EXPECT_THAT(run.out, Not(HasSubstr("fail")));
}

TEST_F(Checking, AMissingIndexIsAProblem) {
  shop_.exec("drop index t_order_pending");
  const ProgramRun run = ctl({"--json", "check"});
  EXPECT_EQ(run.exit_code, kProblemsFound) << run.err;
  EXPECT_EQ(boost::json::parse(run.out).at("problems"), 1) << run.out;
  EXPECT_THAT(run.out, HasSubstr("CREATE INDEX CONCURRENTLY"));
}

TEST_F(Checking, ADatabaseThatIsNotPreparedIsAProblemWithARemedy) {
  const std::string bare = server_.new_empty_database();
  const ProgramRun run = ctl_on(server_.url(bare, "order_timeout_daemon"), {"check"});
  EXPECT_EQ(run.exit_code, kProblemsFound) << run.err;
  EXPECT_THAT(run.out, HasSubstr("order-timeoutctl migrate"));
}

TEST_F(Checking, AnotherMappingIsAProblem) {
  const ProgramRun run = ctl({"--set", "order_table.columns.user_id=~", "check"});
  EXPECT_EQ(run.exit_code, kProblemsFound);
  EXPECT_THAT(run.out, HasSubstr("order-timeoutctl migrate"));
}

TEST_F(Checking, ADatabaseThatIsDownIsUnavailable) {
  const ProgramRun run = ctl_on(kNobody, {"check"});
  EXPECT_EQ(run.exit_code, kUnavailable) << run.out;
}

TEST_F(Checking, ABadConfigurationIsToldWithAllItsErrors) {
  const ProgramRun run = ctl({"--set", "close.batch_size=0", "--set", "no.such=1", "check"});
  EXPECT_EQ(run.exit_code, kBadConfiguration);
  EXPECT_THAT(run.err, HasSubstr("close.batch_size"));
  EXPECT_THAT(run.err, HasSubstr("no: unknown key"));
}

TEST_F(Checking, RedisIsAskedAndMissedWithAWarning) {
  test::RedisServer redis;
  const std::vector<std::string> words = {"--set", "redis.url=" + redis.url(), "check"};
  const ProgramRun up = ctl(words);
  EXPECT_EQ(up.exit_code, 0) << up.out;
  EXPECT_THAT(up.out, HasSubstr("redis: answers"));
  EXPECT_THAT(up.out, Not(HasSubstr("warn  redis")));
  redis.stop();
  const ProgramRun down = ctl(words);
  EXPECT_EQ(down.exit_code, 0) << down.out;
  EXPECT_THAT(down.out, HasSubstr("warn  redis"));
}

TEST_F(Checking, StatusTellsOfTheDaemonAndOfTheDatabase) {
  daemon_.start();
  ASSERT_TRUE(daemon_.await_ready());
  place_orders(4);
  ASSERT_TRUE(await_released(4));
  place_orders(3, "default", "now() + interval '1 hour'");
  shop_.exec(kWaitingRefund);
  const ProgramRun up = ctl({"--json", "status"});
  EXPECT_EQ(up.exit_code, 0) << up.err;
  const boost::json::value document = boost::json::parse(up.out);
  EXPECT_EQ(document.at("daemon_fresh"), true);
  EXPECT_EQ(document.at("database").at("pending"), 3);
  const boost::json::value waiting = document.at("database").at("outbox");
  EXPECT_EQ(boost::json::serialize(waiting),
            R"([{"event_type":"REFUND","status":"PENDING","events":1}])");
  EXPECT_THAT(ctl({"status"}).out, HasSubstr("pending: 3"));
}

TEST_F(Checking, StatusWithoutADaemonSaysSo) {
  place_orders(3, "default", "now() - interval '1 hour'");
  const ProgramRun down = ctl({"--json", "status"});
  EXPECT_EQ(down.exit_code, kProblemsFound) << down.err;
  const boost::json::value document = boost::json::parse(down.out);
  EXPECT_TRUE(document.at("daemon").is_null());
  EXPECT_EQ(document.at("daemon_fresh"), false);
  EXPECT_EQ(document.at("database").at("pending"), 3);
}

TEST_F(Checking, StatusWithoutADatabaseIsUnavailable) {
  EXPECT_EQ(ctl_on(kNobody, {"--json", "status"}).exit_code, kUnavailable);
}

TEST_F(Checking, HelpAndVersionAreNoErrors) {
  EXPECT_THAT(ctl({"--version"}).out, HasSubstr("order-timeoutctl "));
  EXPECT_EQ(ctl({"--help"}).exit_code, 0);
  EXPECT_EQ(ctl({}).exit_code, 64);
}

}  // namespace
}  // namespace order_timeout::testing
