// Proves that a reload is all or nothing: what is accepted holds as a whole and reaches the orders
// that wait already; what is refused changes nothing, says why, and ends the command with its code.
#include <boost/json.hpp>
#include <csignal>
#include <filesystem>
#include <set>

#include "support/reload_fixture.hpp"
#include "support/stock_service.hpp"

namespace order_timeout::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Reload = ReloadFixture;

TEST_F(Reload, AShorterTimeoutReachesOrdersThatWaitAlready) {
  DaemonProcess daemon({.database_url = url(), .lines = {{"default", "{timeout: 1h, grace: 0s}"}}});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  place_orders(50);
  ASSERT_TRUE(daemon.await_notification("STATUS="));
  write_lines(daemon, {{"default", "{timeout: 2s, grace: 0s}"}});
  const ProgramRun run = ctl(daemon, {"reload"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("business_lines.default.timeout: 1h -> 2s"),
                             HasSubstr("reloaded, revision ")));
  EXPECT_TRUE(await_count("t_order where status = 'CLOSED'", 50, 10s));
  expect_none_early("o.created_at + interval '2 seconds'");
  EXPECT_THAT(daemon.log_text(),
              HasSubstr("change_1=\"business_lines.default.timeout: 1h -> 2s\""));
  EXPECT_EQ(reloads(daemon, "ok"), 1);
}

TEST_F(Reload, ALongerTimeoutReachesOrdersThatWaitAlready) {
  DaemonProcess daemon({.database_url = url(),
                        .lines = {{"default", "{timeout: 3s, grace: 0s}"},
                                  {"flash", "{timeout: 3s}"},
                                  {"slow", "{timeout: 3s}"}}});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const auto slow = place_order("clock_timestamp()", "slow");
  const auto flash = place_order("clock_timestamp()", "flash");
  write_lines(daemon, {{"default", "{timeout: 3s, grace: 0s}"},
                       {"flash", "{timeout: 3s}"},
                       {"slow", "{timeout: 1h}"}});
  EXPECT_EQ(ctl(daemon, {"reload"}).exit_code, 0);
  EXPECT_TRUE(await_closed(flash));
  EXPECT_TRUE(await_closed(place_order("clock_timestamp() - interval '2 s'", "flash")));
  EXPECT_EQ(status_of(slow), "WAIT_PAY");
}

TEST_F(Reload, TheGuardRefusesWhatMakesTooManyOrdersDueUntilAPersonConfirms) {
  DaemonProcess daemon(
      {.database_url = url(),
       .lines = {{"default", "{timeout: 1h, grace: 0s}"}, {"flash", "{timeout: 30m}"}},
       .extra = "guard: {max_due_by_reload: 25}"});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  place_orders(30, "flash", "now() - interval '20 minutes'");
  place_orders(30, "default", "now() - interval '20 minutes'");
  write_lines(daemon, {{"default", "{timeout: 1h, grace: 0s}"}, {"flash", "{timeout: 10m}"}});
  const std::string before = revision();
  const ProgramRun refused = ctl(daemon, {"reload"});
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.out, HasSubstr("flash timeout 30m -> 10m: 30 orders due at once\n"));
  EXPECT_THAT(refused.err, HasSubstr("nothing was changed: 30 orders would be due at once, more "
                                     "than guard.max_due_by_reload=25"));
  EXPECT_EQ(revision(), before);
  EXPECT_EQ(reloads(daemon, "refused"), 1);
  EXPECT_EQ(count("t_order where status = 'CLOSED'"), 0);
  EXPECT_EQ(ctl(daemon, {"reload", "--confirm"}).exit_code, 0);
  EXPECT_TRUE(await_count("t_order where status = 'CLOSED' and biz_line = 'flash'", 30));
  EXPECT_EQ(count("t_order where status = 'CLOSED' and biz_line = 'default'"), 0);
}

TEST_F(Reload, TheGuardRefusesWhatCannotBeCounted) {
  DaemonProcess daemon({.database_url = url(), .lines = {{"default", "{timeout: 1h}"}}});
  daemon.setup().extra = "database: {url: \"" + url() + "\", statement_timeout: 500ms}";
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  shop_.begin();
  shop_.exec("lock table t_order in access exclusive mode");
  EXPECT_EQ(ctl(daemon, {"reload"}).exit_code, 0) << "the same rules need no count";
  write_lines(daemon, {{"default", "{timeout: 2h}"}});
  const ProgramRun run = ctl(daemon, {"reload"});
  EXPECT_EQ(run.exit_code, 5);
  EXPECT_THAT(run.err, HasSubstr("could not be counted within database.statement_timeout"));
  shop_.commit();
  EXPECT_EQ(ctl(daemon, {"reload"}).exit_code, 0);
}

TEST_F(Reload, AKeyThatNeedsARestartIsNamedAndNothingOfTheFileIsTaken) {
  DaemonProcess daemon({.database_url = url(), .extra = "close: {batch_size: 100}"});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const std::string before = revision();
  write_file(daemon, daemon.configuration() + "high_availability: {lease: 10s}\n");
  EXPECT_EQ(ctl(daemon, {"reload"}).exit_code, 0) << "it stands at its default";
  daemon.setup().extra =
      "close: {batch_size: 50}\norder_table: {name: public.t_order, columns: "
      "{paid_at: ~}}";
  write_lines(daemon, {{"default", "{timeout: 5m}"}});
  const ProgramRun run = ctl(daemon, {"reload"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("needs a restart: order_table.columns.paid_at"));
  EXPECT_EQ(revision(), before);
  EXPECT_EQ(reloads(daemon, "refused"), 1);
  // What is in force is what was: the same file as at the start has no changes.
  daemon.setup().extra = "close: {batch_size: 100}";
  write_lines(daemon, {{"default", "{timeout: 1s, grace: 0s}"}});
  EXPECT_THAT(ctl(daemon, {"reload"}).out, Not(HasSubstr(" -> ")));
}

TEST_F(Reload, EventsAndLogsAndLimitsFollow) {
  stock::StockService stock;
  DaemonProcess daemon({.database_url = url(),
                        .lines = {{"default", "{timeout: 1s, grace: 0s, on_close: []}"}},
                        .extra = "log: {level: warn}\nevents: {}"});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  ASSERT_TRUE(await_closed(place_order()));
  EXPECT_EQ(count("order_timeout.outbox"), 0);
  const std::filesystem::path token = daemon.directory() / "token";
  std::ofstream(token) << "first-token\n";
  std::filesystem::permissions(
      token, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  daemon.setup().extra =
      "log: {level: info, format: json}\nclose: {batch_size: 7}\n"
      "sweep: {nightly: \"04:00\", catch_up_interval: 1s}\n"
      "events: {release_stock: {url: \"" +
      stock.url() + "\", headers: {X-Token: \"${file:" + token.string() + "}\"}}}";
  write_lines(daemon, {{"default", "{timeout: 1s, grace: 0s, on_close: [release_stock]}"}});
  ASSERT_EQ(ctl(daemon, {"reload"}).exit_code, 0);
  EXPECT_TRUE(await_closed(place_order()));
  EXPECT_TRUE(stock.wait_for_calls(1, kPatience));
  EXPECT_EQ(stock.last_request().headers["x-token"], "first-token");
  EXPECT_TRUE(daemon.await_log("\"message\":\"reload_ok\""));
  // A secret that changed is read again, though its masked text is the same.
  std::ofstream(token) << "second-token\n";
  const ProgramRun changed = ctl(daemon, {"reload"});
  EXPECT_THAT(changed.out, HasSubstr("events.release_stock.headers.X-Token: \"***\" -> \"***\" "
                                     "(changed)"));
  EXPECT_TRUE(await_closed(place_order()));
  EXPECT_TRUE(stock.wait_for_calls(2, kPatience));
  EXPECT_EQ(stock.last_request().headers["x-token"], "second-token");
  // And an event that is gone waits in the outbox.
  daemon.setup().extra = "events: {other: {url: \"" + stock.url() + "\"}}";
  write_lines(daemon, {{"default", "{timeout: 1s, grace: 0s, on_close: [other]}"}});
  ASSERT_EQ(ctl(daemon, {"reload"}).exit_code, 0);
  EXPECT_TRUE(await_closed(place_order()));
  EXPECT_TRUE(await_count("order_timeout.outbox where event_type = 'OTHER'", 1));
  EXPECT_EQ(daemon.terminate(), 0);
}

TEST_F(Reload, ManySignalsAreFewReloadsAndTheLastFileHolds) {
  DaemonProcess daemon({.database_url = url(), .lines = {{"default", "{timeout: 1h}"}}});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  for (int i = 0; i < 500; ++i) {
    if (i == 490) write_lines(daemon, {{"default", "{timeout: 1s, grace: 0s}"}});
    daemon.signal(SIGHUP);
  }
  EXPECT_TRUE(daemon.await_log("business_lines.default.timeout: 1h -> 1s"));
  EXPECT_TRUE(await_closed(place_order()));
  EXPECT_LT(reloads(daemon, "ok"), 100);
  EXPECT_EQ(daemon.terminate(), 0);
}

// The rules are locked, so that the first reload waits while more signals come; that the loop
// answers in between shows that each of them has arrived.
TEST_F(Reload, SignalsThatComeDuringAReloadAreOneMore) {
  DaemonProcess daemon({.database_url = url(), .lines = {{"default", "{timeout: 1h}"}}});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  write_lines(daemon, {{"default", "{timeout: 2h}"}});
  shop_.begin();
  shop_.exec("lock table order_timeout.rule in access exclusive mode");
  for (int i = 0; i < 4; ++i) {
    daemon.signal(SIGHUP);
    ASSERT_TRUE(i > 0 || daemon.await_log("log files reopened"));
    ASSERT_EQ(daemon.http_get("/healthz").status, 200);
  }
  shop_.commit();
  EXPECT_TRUE(daemon.await_log("reload_coalesced signals=2"));
  EXPECT_TRUE(await([&] { return reloads(daemon, "ok") == 2; }));
}

// Killed at whatever point of it: the rules in force are those of one file, never of both, and the
// snapshot is one of the two as well.
TEST_F(Reload, KilledInItsMidstLeavesOneConfigurationAsAWhole) {
  const std::map<std::string, std::string> one = {{"default", "{timeout: 10m, grace: 1s}"},
                                                  {"flash", "{timeout: 20m}"}};
  const std::map<std::string, std::string> two = {{"default", "{timeout: 30m, grace: 2s}"},
                                                  {"hotel", "{timeout: 40m}"}};
  const std::string in_force =
      "select string_agg(business_line || '=' || timeout || '+' || grace, ' ' order by "
      "business_line) from order_timeout.rule";
  DaemonProcess daemon({.database_url = url(), .lines = one});
  std::set<std::string> seen;
  for (int round = 0; round < 10; ++round) {
    daemon.start();
    ASSERT_TRUE(daemon.await_ready());
    write_lines(daemon, round % 2 == 0 ? two : one);
    daemon.signal(SIGHUP);
    ASSERT_TRUE(round < 2 || daemon.await_log("log files reopened"));
    for (int i = 2; i < round; ++i) daemon.http_get("/healthz");
    daemon.kill9();
    seen.insert(shop_.value(in_force));
    const std::string snapshot = file_content(daemon.directory() / "last-good.yaml");
    EXPECT_NE(snapshot.find("flash:") == std::string::npos,
              snapshot.find("hotel:") == std::string::npos)
        << snapshot;
  }
  EXPECT_THAT(seen, ::testing::IsSubsetOf({"default=00:10:00+00:00:01 flash=00:20:00+00:00:01",
                                           "default=00:30:00+00:00:02 hotel=00:40:00+00:00:02"}));
}

TEST_F(Reload, RulesThatSomebodyElsePutInForceHoldForOrdersThatWaitHere) {
  DaemonProcess daemon({.database_url = url(), .lines = {{"default", "{timeout: 1h, grace: 0s}"}}});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const auto id = place_order();
  shop_.exec(
      "select order_timeout.apply_rules(null, '{\"max_age_ms\":2592000000,\"lines\":{\"default\":"
      "{\"timeout_ms\":1000,\"grace_ms\":0,\"action\":\"close\",\"on_close\":[]}}}')");
  EXPECT_TRUE(await_closed(id));
  EXPECT_TRUE(daemon.await_log("rules that this daemon did not write are in force"));
  EXPECT_EQ(ctl(daemon, {"reload"}).exit_code, 0);
  EXPECT_EQ(shop_.value("select timeout from order_timeout.rule"), "01:00:00");
}

TEST_F(Reload, IsRefusedWhileTheDatabaseDoesNotFit) {
  DaemonProcess daemon({.database_url = url(), .lines = {{"default", "{timeout: 1h}"}}});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  shop_.exec("alter table order_timeout.shop_mapping rename to mapping_away");
  write_lines(daemon, {{"default", "{timeout: 2h}"}});
  const ProgramRun run = ctl(daemon, {"reload"});
  EXPECT_EQ(run.exit_code, 69);
  EXPECT_THAT(run.err, HasSubstr("nothing was changed"));
  EXPECT_EQ(reloads(daemon, "error"), 1);
  shop_.exec("alter table order_timeout.mapping_away rename to shop_mapping");
  EXPECT_EQ(ctl(daemon, {"reload"}).exit_code, 0);
}

TEST_F(Reload, ALineThatNoRuleListsIsToldAndCountedByItsExactName) {
  DaemonProcess daemon(
      {.database_url = url(), .lines = {{"default", "{timeout: 1h}"}, {"flash", "{timeout: 1h}"}}});
  for (const char* line : {"flash", "FLASH", "flash ", "flash\nx", ""}) place_orders(2, line);
  place_orders(3, "FLASH");
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  EXPECT_TRUE(daemon.await_log("cause=NULL orders=2"));
  const ProgramRun run = ctl(daemon, {"--json", "status"});
  const auto lines = boost::json::parse(run.out).at("daemon").at("unlisted_lines");
  EXPECT_EQ(lines, (boost::json::value{
                       {"\"FLASH\"", 5}, {"\"flash\nx\"", 2}, {"\"flash \"", 2}, {"NULL", 2}}));
}

TEST_F(Reload, NeedsADaemonThatAnswers) {
  DaemonProcess daemon({.database_url = url()});
  daemon.write_configuration();
  const ProgramRun run = ctl(daemon, {"reload"});
  EXPECT_EQ(run.exit_code, 69);
  EXPECT_THAT(run.err, HasSubstr("no daemon answers on "));
}

}  // namespace
}  // namespace order_timeout::testing
