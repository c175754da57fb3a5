// Proves that closing survives what PostgreSQL does to it: restarts, frozen and killed server
// processes, locks, read-only times, lost answers, cut connections. It goes on within seconds;
// nothing is lost, nothing happens twice, never more connections than allowed.
#include <csignal>

#include "integration/daemon/connection_sampler.hpp"
#include "integration/daemon/fault_fixture.hpp"
#include "support/tcp_proxy.hpp"
#include "support/temp_dir.hpp"

namespace order_timeout::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kConnections = 4;
constexpr double kBackWithinMs = 5'000;
constexpr double kStatementTimeoutMs = 2'000;
const std::string kDueAfterOneMinute = "o.created_at + interval '1 minute'";

PostgresServer& server_of_our_own() {
  static PostgresServer server({.fsync = false});
  return server;
}

std::string database_section(const std::string& url) {
  return "database: {url: \"" + url + "\", connections: " + std::to_string(kConnections) +
         ", statement_timeout: 2s}";
}

class PostgresFaults : public FaultFixture {
 protected:
  PostgresFaults() : FaultFixture(server_of_our_own()) {}

  void start_daemon() {
    daemon_.start();
    ASSERT_TRUE(daemon_.await_ready());
  }

  // Ready for connections again; the instant.
  std::string meet_again() {
    const bool met = await([&] {
      try {
        shop_.reconnect();
        return true;
      } catch (const std::exception&) {
        return false;
      }
    });
    if (!met) throw std::runtime_error("PostgreSQL does not come back");
    return database_time();
  }

  int downs() const { return times("postgres: down", daemon_.log_text()); }
  int ups() const { return times("postgres: up again", daemon_.log_text()); }

  void expect_one_line_each(int changes) {
    EXPECT_TRUE(await([&] { return ups() >= changes; }));
    EXPECT_EQ(downs(), changes);
    EXPECT_EQ(ups(), changes);
  }

  void expect_all_well(const std::string& due = kDueAfterOneSecond) {
    EXPECT_TRUE(await_all_closed());
    EXPECT_TRUE(await_released(count("t_order")));
    expect_books_balance(due);
    EXPECT_EQ(count("order_timeout.quarantine"), 0);
    EXPECT_EQ(daemon_.terminate(), 0);
  }

  void expect_no_connection_too_many() {
    EXPECT_LE(sampler_.most(), kConnections);
    EXPECT_GT(sampler_.samples(), 50);
  }

  ConnectionSampler sampler_{server_.url(database_), "order_timeout_daemon"};
  DaemonProcess daemon_{{.extra = database_section(url())}};
};

// ---- the server restarts

class PostgresRestarts : public PostgresFaults {
 protected:
  // 4,000 orders, 200 due each second, from two seconds ahead on.
  void SetUp() override {
    daemon_.setup().lines = {{"default", "{timeout: 1m, grace: 0s}"}};
    place_orders(4'000, "default",
                 "clock_timestamp() - interval '58 seconds' + n * interval '5 ms'");
    start_daemon();
  }

  // Down for two seconds while orders fall due.
  void survive(const std::function<void()>& stop) {
    ASSERT_TRUE(await_closing());
    stop();
    await([] { return false; }, 2s);
    server_.start();
    const std::string back = meet_again();
    ASSERT_TRUE(await_closing());
    EXPECT_LE(first_close_ms(back), kBackWithinMs);
  }

  bool await_closing() {
    const auto before = count("t_order where status = 'CLOSED'");
    return await([&] { return count("t_order where status = 'CLOSED'") > before; });
  }
};

TEST_F(PostgresRestarts, FastAndImmediateAreBothSurvivedInTheMiddleOfClosing) {
  survive([&] { server_.stop_fast(); });
  expect_one_line_each(1);
  survive([&] { server_.stop_immediate(); });
  expect_one_line_each(2);
  const std::string well = database_time();
  expect_all_well(kDueAfterOneMinute);
  expect_no_connection_too_many();
  EXPECT_LE(last_close_ms(kDueAfterOneMinute + " > '" + well + "'", kDueAfterOneMinute), 2'000);
}

// ---- one server process is frozen in the middle of a close

class FrozenBackend : public PostgresFaults {
 protected:
  void SetUp() override {
    shop_.exec(R"(
      create table t_pause (order_id bigint, seconds float8);
      create function pause_order() returns trigger language plpgsql security definer
        set search_path = public as $$
      begin
        perform pg_sleep(p.seconds) from t_pause p where p.order_id = new.id and p.seconds > 0;
        return new;
      end $$;
      create trigger pause_order before update on t_order for each row execute function
        pause_order();)");
    start_daemon();
    keep_ordering(1s);
  }

  // Twenty orders in one batch; the process that closes them, stopped while it holds them.
  void freeze() {
    ASSERT_TRUE(await_all_closed());  // so that nothing else is in that batch
    own_ = place_orders(20, "default", "now()");
    shop_.exec("insert into t_pause values (" + std::to_string(own_.last) + ", 1.5)");
    const std::string who =
        "from pg_stat_activity where query like '%close_orders%' and wait_event = 'PgSleep'"
        " and usename = 'order_timeout_daemon'";
    ASSERT_TRUE(wait_for(shop_, "select count(*) > 0 " + who, kPatience));
    frozen_ = std::stoi(shop_.value("select pid " + who));
    ASSERT_EQ(kill(frozen_, SIGSTOP), 0);
    shop_.exec("update t_pause set seconds = 0");
  }

  std::string are_own() const {
    return "o.id between " + std::to_string(own_.first) + " and " + std::to_string(own_.last);
  }

  std::int64_t own_open() { return count("t_order o where status = 'WAIT_PAY' and " + are_own()); }

  pid_t frozen_ = 0;
  PlacedOrders own_;
};

TEST_F(FrozenBackend, HoldsUpOnlyItsOwnOrdersUntilItGoesOn) {
  freeze();
  keep_ordering(10s);
  EXPECT_GT(own_open(), 0) << "nothing was locked";
  EXPECT_TRUE(daemon_.await_log("a call got no answer while others do"));
  EXPECT_EQ(downs(), 0) << "one process is not the server";
  const std::string thawed = database_time();
  ASSERT_EQ(kill(frozen_, SIGCONT), 0);
  keep_ordering(2s);
  expect_all_well();
  expect_no_connection_too_many();
  EXPECT_LE(last_close_ms("not " + are_own()), kStatementTimeoutMs + 5'000);
  EXPECT_LE(last_close_ms(are_own(), "'" + thawed + "'::timestamptz"), 2'000);
}

// PostgreSQL ends every session where one process was killed.
TEST_F(FrozenBackend, HoldsUpOnlyItsOwnOrdersUntilItIsKilled) {
  freeze();
  keep_ordering(5s);
  EXPECT_GT(own_open(), 0) << "nothing was locked";
  const pid_t postmaster = server_.postmaster_pid();
  const std::string killed = database_time();
  ASSERT_EQ(kill(frozen_, SIGKILL), 0);
  ASSERT_TRUE(await([&] { return kill(frozen_, 0) != 0; }));
  const std::string back = meet_again();
  EXPECT_EQ(server_.postmaster_pid(), postmaster);
  keep_ordering(2s);
  expect_all_well();
  expect_no_connection_too_many();
  EXPECT_LE(last_close_ms("not " + are_own() + " and o.created_at < '" + killed +
                          "'::timestamptz - interval '2 seconds'"),
            kStatementTimeoutMs + 5'000);
  EXPECT_LE(last_close_ms(are_own(), "'" + back + "'::timestamptz"), kBackWithinMs);
  EXPECT_LE(first_close_ms(back), kBackWithinMs);
}

// ---- locks, read-only times

TEST_F(PostgresFaults, ARowThatSomebodyHoldsWaitsAloneAndClosesWhenItIsFree) {
  start_daemon();
  Session holder(server_.url(database_));
  const std::int64_t held = place_order();
  holder.begin();
  holder.exec("select from t_order where id = " + std::to_string(held) + " for update");
  keep_ordering(10s);
  EXPECT_EQ(status_of(held), "WAIT_PAY");
  const std::string released = database_time();
  holder.commit();
  keep_ordering(1s);
  expect_all_well();
  expect_no_connection_too_many();
  const std::string is_held = "o.id = " + std::to_string(held);
  EXPECT_LE(last_close_ms(is_held, "'" + released + "'::timestamptz"), 2'000);
  EXPECT_LE(last_close_ms("not " + is_held), 2'000);
}

class ReadOnlyTimes : public PostgresFaults {
 protected:
  void SetUp() override {
    start_daemon();
    shop_.exec("set default_transaction_read_only = off");  // the shop's own goes on
  }

  void TearDown() override { end(); }

  void begin() {
    shop_.exec("alter system set default_transaction_read_only = on");
    shop_.exec("select pg_reload_conf()");
    ASSERT_TRUE(daemon_.await_log("postgres: down"));
  }

  void end() {
    shop_.exec("alter system reset default_transaction_read_only");
    shop_.exec("select pg_reload_conf()");
  }
};

TEST_F(ReadOnlyTimes, AreOutagesWithOneLineEach) {
  keep_ordering(1s);
  begin();
  keep_ordering(5s);
  EXPECT_GT(count("t_order o where status = 'WAIT_PAY' and " + kDueAfterOneSecond + " < now()"),
            100);
  const std::string back = database_time();
  end();
  keep_ordering(3s);
  expect_one_line_each(1);
  expect_all_well();
  expect_no_connection_too_many();
  EXPECT_LE(first_close_ms(back), kBackWithinMs);
}

TEST_F(ReadOnlyTimes, EndInTheLogWithoutAnyOrder) {
  begin();
  end();
  expect_one_line_each(1);
  EXPECT_EQ(daemon_.terminate(), 0);
}

// ---- the network between

class CutConnections : public PostgresFaults {
 protected:
  void SetUp() override {
    daemon_.setup().extra =
        database_section("postgresql:///" + database_ + "?host=" + folder_.path().string() +
                         "&user=order_timeout_daemon");
    start_daemon();
    keep_ordering(1s);
  }

  void lose_closes(test::LastBytes last_bytes) {
    for (int time = 0; time < 10; ++time) {
      proxy_.cut_when_client_sends("close_orders", last_bytes);
      keep_ordering(200ms);
      ASSERT_TRUE(proxy_.wait_for_cut(kPatience));
      ASSERT_TRUE(await_count(
          "t_order o where status = 'WAIT_PAY' and " + kDueAfterOneSecond + " < clock_timestamp()",
          0));
    }
  }

  TempDir folder_;
  test::TcpProxy proxy_{
      {.listen = {.path = folder_.path().string() + "/.s.PGSQL.5432"},
       .target = {.path = server_.socket_dir() + "/.s.PGSQL." + std::to_string(server_.port())}}};
};

TEST_F(CutConnections, ALostAnswerToACloseClosesNoOrderTwice) {
  lose_closes(test::LastBytes::forwarded);
  lose_closes(test::LastBytes::lost);
  keep_ordering(2s);
  expect_all_well();
  EXPECT_GE(times("already_closed", daemon_.audit_text()), 10) << "no close was repeated";
  EXPECT_LE(last_close_ms("true"), kBackWithinMs);
}

TEST_F(CutConnections, AreOpenedAnew) {
  for (int time = 0; time < 5; ++time) {
    proxy_.cut_all();
    keep_ordering(500ms);
  }
  proxy_.refuse_new();
  proxy_.cut_all();
  ASSERT_TRUE(daemon_.await_log("postgres: down"));
  keep_ordering(3s);
  const std::string back = database_time();
  proxy_.accept_new();
  keep_ordering(2s);
  expect_all_well();
  EXPECT_LE(first_close_ms(back), kBackWithinMs);
  EXPECT_TRUE(await([&] { return ups() == downs(); }));
}

}  // namespace
}  // namespace order_timeout::testing
