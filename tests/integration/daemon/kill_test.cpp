// Proves that kill -9 loses nothing and doubles nothing: 20,000 orders fall due within 10 s while
// the daemon is killed more than 20 times, always between two commits of closings and with closings
// or calls of the stock service in flight. Judged from a history written by a trigger, from the
// stock service's books and from commit timestamps.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "support/daemon_process.hpp"
#include "support/shop_fixture.hpp"
#include "support/stock_service.hpp"

namespace order_timeout::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kOrders = 20'000;
constexpr int kKills = 24;  // four more than asked for
constexpr int kKillsAsked = 20;
constexpr int kInFlightAsked = 10;
constexpr int kRepeatedKeysAsked = 50;
constexpr auto kAnswerDelay = 80ms;
constexpr auto kAim = 300ms;             // for a closing in flight, before each second kill
constexpr auto kRestOfTheStorm = 180s;   // deliveries after the last kill, leases of 30 s included
constexpr const char* kTimeout = "30s";  // so that orders can be placed just before they fall due
const char* const kDue = "o.created_at + interval '30 seconds'";
// From 4 s on, during 10 s.
const char* const kCreatedAt =
    "now() - interval '26 seconds'"
    " + n * interval '0.5 milliseconds'";

class KilledDaemon : public ShopFixture {
 protected:
  KilledDaemon() {
    shop_.exec(
        "create table t_kill (id bigserial primary key, before timestamptz not null,"
        " after timestamptz not null, closing boolean not null, unanswered int not null)");
    stock::Fault slow;
    slow.kind = stock::FaultKind::apply_then_delay;
    slow.delay = kAnswerDelay;
    service_.set_fault(slow);
  }

  DaemonSetup setup() const {
    return {.database_url = url(),
            .release_stock =
                "{sink: http, url: \"" + service_.url() + "\", concurrency: 64, read_timeout: 20s}",
            .lines = {{"default", std::string("{timeout: ") + kTimeout + ", grace: 0s}"}},
            .extra = "log: {level: warn}\nclose: {batch_size: 100}"};
  }

  std::int64_t closed() { return count("t_order_history where new_status = 'CLOSED'"); }

  bool is_closing() {
    return count(
               "pg_stat_activity where datname = current_database() and state = 'active'"
               " and usename = 'order_timeout_daemon' and query like '%close_orders%'") > 0;
  }

  bool aim_at_a_closing() {
    const auto until = std::chrono::steady_clock::now() + kAim;
    while (std::chrono::steady_clock::now() < until) {
      if (is_closing()) return true;
    }
    return is_closing();
  }

  // Unanswered are calls in the books for less than the delay: their answers were not sent when the
  // daemon's end was known.
  void kill_and_note(bool at_a_closing) {
    const std::string before = shop_.value("select clock_timestamp()");
    const bool closing = at_a_closing ? aim_at_a_closing() : is_closing();
    daemon_.kill9();
    const std::string after = shop_.value("select clock_timestamp()");
    shop_.exec("insert into t_kill (before, after, closing, unanswered) select '" + before +
               "', '" + after + "', " + (closing ? "true" : "false") +
               ", count(*) from t_stock_call where at > '" + after + "'::timestamptz - interval '" +
               std::to_string(kAnswerDelay.count()) + " milliseconds'");
  }

  // Each after a share of what is still open, so that closings are left for after the last one.
  void kill_and_restart_again_and_again() {
    for (int left = kKills; left > 0; --left) {
      const std::int64_t seen = closed();
      const std::int64_t threshold = seen + (kOrders - seen) / (left + 1);
      ASSERT_TRUE(await([&] { return closed() > threshold; })) << left << " kills left";
      kill_and_note(left % 2 == 0);
      daemon_.start();
    }
  }

  void expect_none(const std::string& from_where, const std::string& what) {
    EXPECT_EQ(count(from_where), 0) << what;
  }

  void expect_kills_in_the_thick_of_it();
  void expect_calls_after_their_close();

  stock::StockService service_{{.database_url = server_.url(database_)}};
  DaemonProcess daemon_{setup()};
};

void KilledDaemon::expect_kills_in_the_thick_of_it() {
  const std::string kills =
      "(select *, lag(after) over w as last, lead(before) over w as next from t_kill"
      " window w as (order by id)) k";
  const std::string between =
      " where exists (select from closes c where c.committed < k.before"
      " and c.committed > coalesce(k.last, '-infinity')) and exists (select from closes c where"
      " c.committed > k.after and c.committed < coalesce(k.next, 'infinity'))";
  shop_.exec(
      "create table closes as select order_id, pg_xact_commit_timestamp(xmin) as committed"
      " from t_order_history where new_status = 'CLOSED'");
  const std::int64_t closing = count(kills + between + " and closing");
  const std::int64_t calling = count(kills + between + " and unanswered > 0");
  std::printf("kills with a closing in flight: %lld, with calls in flight: %lld\n",
              static_cast<long long>(closing), static_cast<long long>(calling));
  EXPECT_GE(count(kills + between), kKillsAsked) << "not between two commits of closings";
  EXPECT_GE(count(kills + between + " and (closing or unanswered > 0)"), kInFlightAsked);
  EXPECT_GE(closing, 1);
  EXPECT_GE(calling, 1);
}

void KilledDaemon::expect_calls_after_their_close() {
  expect_none(
      "t_stock_call s where not exists (select from order_timeout.outbox e"
      " where e.event_key = s.idempotency_key)",
      "called with a key that is no event's");
  expect_none("t_stock_release where idempotency_key <> order_id || ':RELEASE_STOCK'",
              "an order's stock was released under another's key");
  expect_none(
      "t_stock_call s join closes c on s.idempotency_key = c.order_id || ':RELEASE_STOCK'"
      " where s.at < c.committed",
      "called before the close was committed");
}

TEST_F(KilledDaemon, ClosesEveryOrderOnceAndReleasesItsStockOnceThroughKills) {
  daemon_.start();
  ASSERT_TRUE(daemon_.await_ready());
  place_orders(kOrders, "default", kCreatedAt);

  ASSERT_NO_FATAL_FAILURE(kill_and_restart_again_and_again());

  ASSERT_TRUE(await_count("t_order where status = 'CLOSED'", kOrders));
  EXPECT_TRUE(await_count("order_timeout.outbox where status in ('PENDING', 'UNCERTAIN')", 0,
                          kRestOfTheStorm))
      << "events are left";
  EXPECT_EQ(count("order_timeout.outbox where status = 'SUCCESS'"), kOrders);
  expect_kills_in_the_thick_of_it();
  expect_calls_after_their_close();
  expect_books_balance(kDue);
  EXPECT_GE(service_.totals().repeated_keys, kRepeatedKeysAsked);
  EXPECT_EQ(daemon_.terminate(), 0);
}

}  // namespace
}  // namespace order_timeout::testing
