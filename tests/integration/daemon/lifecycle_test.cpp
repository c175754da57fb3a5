// Proves how the daemon starts, stops and answers signals: what it waits for, what it refuses to
// start with and how it says so, that it stops in time whatever hangs, and that logs can be
// rotated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <vector>

#include "support/daemon_process.hpp"
#include "support/shop_fixture.hpp"

namespace order_timeout::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using Clock = std::chrono::steady_clock;

constexpr int kBadConfiguration = 78;

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Lifecycle : public ShopFixture {
 protected:
  std::vector<pid_t> daemon_backends() {
    std::vector<pid_t> pids;
    for (const Row& row : shop_.rows("select pid from pg_stat_activity where usename ="
                                     " 'order_timeout_daemon' and datname = current_database()")) {
      pids.push_back(std::stoi(row.at(0).value()));
    }
    return pids;
  }
};

// Backends that answer nothing, until this goes.
class Stopped {
 public:
  explicit Stopped(std::vector<pid_t> pids) : pids_(std::move(pids)) {
    for (const pid_t pid : pids_) kill(pid, SIGSTOP);
  }
  ~Stopped() {
    for (const pid_t pid : pids_) kill(pid, SIGCONT);
  }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

 private:
  std::vector<pid_t> pids_;
};

TEST_F(Lifecycle, TellsSystemdThatItIsReadyAliveAndStopping) {
  DaemonProcess daemon({.database_url = url(), .environment = {{"WATCHDOG_USEC", "600000"}}});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const auto fed = [&] {
    return std::ranges::count(daemon.notifications(), std::string("WATCHDOG=1"));
  };
  const auto before = fed();
  EXPECT_TRUE(await([&] { return fed() >= before + 3; }));
  EXPECT_TRUE(daemon.await_notification("STATUS="));
  EXPECT_EQ(daemon.terminate(), 0);
  EXPECT_THAT(daemon.notifications(), Contains("STOPPING=1"));
}

TEST_F(Lifecycle, StopsQuicklyInTheMidstOfClosing) {
  place_orders(20'000, "default", "now() - interval '1 hour'");
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(await([&] { return count("t_order where status = 'CLOSED'") > 500; }));
  const auto begun = Clock::now();
  EXPECT_EQ(daemon.terminate(), 0);
  EXPECT_LT(Clock::now() - begun, 10s);
  expect_closed_once();
  expect_one_event();
  EXPECT_GT(count("t_order where status = 'WAIT_PAY'"), 0) << "there was nothing left to stop";
}

TEST_F(Lifecycle, StopsWithinTenSecondsThoughEveryConnectionHangs) {
  place_orders(50, "default", "clock_timestamp()");
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const auto backends = daemon_backends();
  ASSERT_FALSE(backends.empty());
  const Stopped stopped(backends);
  ASSERT_TRUE(wait_for(shop_,
                       "select max(created_at) < clock_timestamp() - interval '1.5 seconds'"
                       " from t_order"));
  const auto begun = Clock::now();
  EXPECT_EQ(daemon.terminate(), 0);
  EXPECT_LE(Clock::now() - begun, 10s);
}

TEST_F(Lifecycle, ASecondSignalStopsItAtOnce) {
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const Stopped stopped(daemon_backends());
  // A statement is under way on a connection that hangs: one is sent every 100 ms.
  ASSERT_TRUE(wait_for(shop_, "select clock_timestamp() > '" +
                                  shop_.value("select clock_timestamp()"
                                              " + interval '500 milliseconds'") +
                                  "'"));
  daemon.signal(SIGTERM);
  ASSERT_TRUE(daemon.await_notification("STOPPING=1"));
  const auto begun = Clock::now();
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait_exit(10s), 0);
  EXPECT_LT(Clock::now() - begun, 2s);
}

TEST_F(Lifecycle, ReopensItsLogsOnSignals) {
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  place_order();
  ASSERT_TRUE(daemon.await_audit("close: closed"));
  for (const int number : {SIGUSR1, SIGHUP}) {
    const std::string away = "." + std::to_string(number);
    std::filesystem::rename(daemon.log_file(), daemon.log_file().string() + away);
    std::filesystem::rename(daemon.audit_file(), daemon.audit_file().string() + away);
    daemon.signal(number);
    ASSERT_TRUE(daemon.await_log("log files reopened")) << number;
    const std::string old_log = content_of(daemon.log_file().string() + away);
    const std::string old_audit = content_of(daemon.audit_file().string() + away);
    const auto id = place_order();
    EXPECT_TRUE(daemon.await_audit("order_id=" + std::to_string(id)));
    EXPECT_EQ(content_of(daemon.audit_file().string() + away), old_audit);
    EXPECT_EQ(content_of(daemon.log_file().string() + away), old_log);
  }
  EXPECT_TRUE(daemon.await_log("config: reload_ok"));
  EXPECT_EQ(daemon.terminate(), 0);
}

TEST_F(Lifecycle, ABadConfigurationIsRefusedWithAllItsErrors) {
  DaemonProcess daemon({.database_url = url(),
                        .extra = "discovery: {poll_interval: soon}\nclose: {batch_size: 0, "
                                 "colour: red}\nguard: {clock_fence: 7s}\n"});
  daemon.start();
  EXPECT_EQ(daemon.wait_exit(), kBadConfiguration);
  for (const char* key : {"discovery.poll_interval", "close.batch_size", "close.colour",
                          "guard.clock_fence", "not in this version", "4 errors"}) {
    EXPECT_THAT(daemon.output_text(), HasSubstr(key));
  }
  EXPECT_EQ(daemon.log_text(), "");
}

TEST_F(Lifecycle, ADatabaseThatIsNotPreparedIsRefusedWithTheRemedy) {
  DaemonProcess daemon(
      {.database_url = server_.url(server_.new_empty_database(), "order_timeout_daemon")});
  daemon.start();
  EXPECT_EQ(daemon.wait_exit(), kBadConfiguration);
  EXPECT_THAT(daemon.log_text(), HasSubstr("order-timeoutctl migrate"));
}

TEST_F(Lifecycle, AMappingThatTheDatabaseWasNotPreparedForIsRefusedWithTheRemedy) {
  place_orders(5, "default", "now() - interval '1 hour'");
  DaemonProcess daemon(
      {.database_url = url(), .arguments = {"--set", "order_table.columns.user_id=~"}});
  daemon.start();
  EXPECT_EQ(daemon.wait_exit(), kBadConfiguration);
  EXPECT_THAT(daemon.log_text(), HasSubstr("order-timeoutctl migrate"));
  EXPECT_EQ(count("t_order where status = 'CLOSED'"), 0);
}

TEST_F(Lifecycle, ARoleWithoutRightsIsRefused) {
  DaemonProcess daemon({.database_url = url("order_timeout_operator")});
  daemon.start();
  EXPECT_EQ(daemon.wait_exit(), 77);
  EXPECT_THAT(daemon.log_text(), HasSubstr("order-timeoutctl check"));
}

TEST(LifecycleWithoutDatabase, WaitsForPostgresAndBecomesReadyWhenItComes) {
  PostgresServer server(PostgresServer::Options{.fsync = false});
  const std::string database = server.new_database();
  server.stop_fast();
  DaemonProcess daemon({.database_url = server.url(database, "order_timeout_daemon")});
  daemon.start();
  ASSERT_TRUE(daemon.await_log("postgres: down"));
  EXPECT_EQ(daemon.http_get("/healthz").status, 200);
  EXPECT_EQ(daemon.http_get("/readyz").status, 503);
  EXPECT_THAT(daemon.notifications(), Not(Contains("READY=1")));
  server.start();
  EXPECT_TRUE(daemon.await_ready());
  EXPECT_EQ(daemon.http_get("/readyz").status, 200);
  EXPECT_EQ(daemon.terminate(), 0);
}

}  // namespace
}  // namespace order_timeout::testing
