// Proves that pause and resume work with and without a running daemon, on all closing, one line or
// one event, and that a pause ends by itself where it was given an end.
#include <chrono>

#include "integration/ctl/ctl_fixture.hpp"

namespace order_timeout::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class Pausing : public CtlFixture {
 protected:
  bool await_closed(std::int64_t id) {
    return await([&] { return status_of(id) == "CLOSED"; });
  }
};

TEST_F(Pausing, WritesItsRowWithTheDaemonDownAndWithEveryLogin) {
  const ProgramRun paused = ctl({"pause", "--business-line", "promo", "--reason", "sale goes on"});
  EXPECT_EQ(paused.exit_code, 0) << paused.err;
  EXPECT_THAT(paused.out, HasSubstr("paused line:promo; the daemon was not reached"));
  EXPECT_EQ(shop_.value("select scope || '/' || reason || '/' || (until is null) from "
                        "order_timeout.pause"),
            "line:promo/sale goes on/true");
  EXPECT_EQ(operate({"resume", "--reason", "over"}).exit_code, 4) << "all is not paused";
  EXPECT_EQ(operate({"resume", "--business-line", "promo"}).exit_code, 0);
  EXPECT_EQ(count("order_timeout.pause"), 0);
}

TEST_F(Pausing, NeedsAReasonAndATimeWithAZone) {
  EXPECT_EQ(ctl({"pause"}).exit_code, 64);
  EXPECT_EQ(ctl({"pause", "--reason", " "}).exit_code, 64);
  EXPECT_EQ(ctl({"pause", "--reason", "x", "--until", "tomorrow"}).exit_code, 64);
  EXPECT_EQ(ctl({"pause", "--reason", "x", "--event", "e", "--business-line", "l"}).exit_code, 64);
  EXPECT_EQ(count("order_timeout.pause"), 0);
}

TEST_F(Pausing, StopsARunningDaemonAtOnceAndLetsItGoOn) {
  daemon_.setup().extra = "log: {level: info}\n";
  daemon_.start();
  ASSERT_TRUE(daemon_.await_ready());
  ASSERT_EQ(ctl({"pause", "--reason", "books"}).exit_code, 0);
  EXPECT_TRUE(daemon_.await_log("pause: paused scope=all"));
  const auto id = place_order();
  EXPECT_TRUE(daemon_.await_audit("paused"));
  EXPECT_EQ(status_of(id), "WAIT_PAY");
  EXPECT_THAT(daemon_.http_get("/metrics").body,
              HasSubstr("order_timeout_paused{scope=\"all\"} 1"));
  ASSERT_EQ(ctl({"resume", "--reason", "books are done"}).exit_code, 0);
  EXPECT_TRUE(await_closed(id));
  EXPECT_THAT(daemon_.log_text(), HasSubstr("reason=\"books are done\""));
}

TEST_F(Pausing, EndsByItselfAtItsTime) {
  daemon_.start();
  ASSERT_TRUE(daemon_.await_ready());
  const std::string until = shop_.value(
      "select to_char((now() + interval '3 seconds') at time zone 'UTC', "
      "'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')");
  ASSERT_EQ(ctl({"pause", "--until", until, "--reason", "a moment"}).exit_code, 0);
  const auto id = place_order();
  EXPECT_TRUE(await_closed(id));
  EXPECT_EQ(shop_.value("select closed_at >= '" + until +
                        "' from t_order where id = " + std::to_string(id)),
            "t");
}

TEST_F(Pausing, LetsAnEventRestWhileOrdersAreClosed) {
  daemon_.start();
  ASSERT_TRUE(daemon_.await_ready());
  ASSERT_EQ(ctl({"pause", "--event", "release_stock", "--reason", "stock moves"}).exit_code, 0);
  const auto id = place_order();
  EXPECT_TRUE(await_closed(id));
  EXPECT_TRUE(await_closed(place_order()));
  EXPECT_EQ(count("order_timeout.outbox where attempts > 0"), 0);
  ASSERT_EQ(ctl({"resume", "--event", "release_stock"}).exit_code, 0);
  EXPECT_TRUE(await_released(2));
}

TEST_F(Pausing, WorksThoughTheFileIsBrokenWhereASnapshotIsThere) {
  daemon_.start();
  ASSERT_TRUE(daemon_.await_ready());
  daemon_.setup().extra = "log: {level: loud}\n";
  daemon_.write_configuration();
  const ProgramRun run = ctl({"pause", "--reason", "the file is broken"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("log.level"));
  EXPECT_EQ(ctl({"check"}).exit_code, 78);
}

TEST_F(Pausing, StatusIsAskedOfTheDaemonItself) {
  daemon_.start();
  ASSERT_TRUE(daemon_.await_ready());
  std::filesystem::remove(daemon_.log_directory() / "status.json");
  const ProgramRun run = ctl({"--json", "status"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto document = boost::json::parse(run.out);
  EXPECT_EQ(document.at("daemon_fresh"), true);
  EXPECT_EQ(document.at("daemon").at("closing"), "running");
  EXPECT_EQ(document.at("daemon").at("config").at("hash").as_string().size(), 16U);
  EXPECT_EQ(document.at("daemon").at("rules_revision"),
            std::stoll(shop_.value("select max(revision) from order_timeout.rule")));
}

}  // namespace
}  // namespace order_timeout::testing
