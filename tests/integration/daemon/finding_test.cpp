// Proves that every pending order is found, whatever way it came to be pending: at the start, late,
// out of order, by the shop's timeout_task, by the catch-up scan and by the nightly sweep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/daemon_process.hpp"
#include "support/shop_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

const std::string kNoCatchUp = "sweep: {catch_up_interval: 1d}\n";

class FindingOrders : public ShopFixture {
 protected:
  bool await_closed(std::int64_t id) {
    return await([&] { return status_of(id) == "CLOSED"; });
  }
  // The sweep that runs at the first start; what is placed after it, it does not find.
  bool await_nightly() {
    return await_count("order_timeout.sweep_run where kind = 'NIGHTLY' and status = 'SUCCESS'", 1);
  }
  // A row that the daemon takes no notice of yet.
  std::int64_t place_draft(const std::string& created_at) {
    const auto id = place_order(created_at);
    shop_.exec("update t_order set status = 'DRAFT' where id = " + std::to_string(id));
    shop_.exec("delete from t_order_history");
    return id;
  }
};

TEST_F(FindingOrders, TimeoutTasksNameOrdersAndDelayThem) {
  DaemonProcess daemon({.database_url = url(), .extra = kNoCatchUp});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  ASSERT_TRUE(await_nightly());
  shop_.exec(
      "insert into order_timeout.timeout_task (order_no, due_at, created_at)"
      " values ('nobody', now() - interval '1 day', now() - interval '25 hours')");
  // Older than discovery looks back: nobody finds it unasked.
  const auto asked = place_order("now() - interval '1 day'");
  const auto unasked = place_order("now() - interval '1 day'");
  const auto delayed = place_order("clock_timestamp()");
  shop_.exec(
      "insert into order_timeout.timeout_task (order_no, due_at) select order_no, now() from"
      " t_order where id = " +
      std::to_string(asked));
  shop_.exec(
      "insert into order_timeout.timeout_task (order_no, due_at) select order_no, created_at"
      " + interval '3 seconds' from t_order where id = " +
      std::to_string(delayed));
  EXPECT_TRUE(await_closed(asked));
  EXPECT_TRUE(await_closed(delayed));
  expect_none_early("case o.id when " + std::to_string(delayed) +
                    " then o.created_at + interval '3 seconds' else o.created_at end");
  EXPECT_TRUE(await_count("order_timeout.timeout_task where status = 'DONE'", 2));
  EXPECT_TRUE(await_count("order_timeout.timeout_task", 2)) << "the one that names nobody stays";
  EXPECT_EQ(status_of(unasked), "WAIT_PAY")
      << "found by something else, so the test proves nothing";
}

TEST_F(FindingOrders, TheRebuildFindsDueAndFutureOnes) {
  const auto overdue = place_order("now() - interval '3 days'");
  const auto soon = place_order("clock_timestamp() + interval '2 seconds'");
  DaemonProcess daemon({.database_url = url(), .extra = kNoCatchUp});
  daemon.start();
  EXPECT_TRUE(await_closed(overdue));
  EXPECT_TRUE(await_closed(soon));
  EXPECT_TRUE(await_released(2));
  expect_books_balance();
  EXPECT_THAT(daemon.audit_text(), HasSubstr("source=startup"));
}

// Its id is lower and its created_at older than those of orders found and closed meanwhile.
TEST_F(FindingOrders, AnOrderThatIsCommittedLateIsFound) {
  DaemonProcess daemon({.database_url = url(), .extra = kNoCatchUp});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  Session slow(server_.url(database_));
  slow.begin();
  slow.exec("insert into t_order (order_no) values ('LATE')");
  for (int rounds = 1; rounds <= 3; ++rounds) {
    const auto newer = place_orders(10).last;
    ASSERT_TRUE(await_closed(newer));
  }
  slow.commit();
  EXPECT_TRUE(await_count("t_order where order_no = 'LATE' and status = 'CLOSED'", 1));
  expect_none_early();
}

TEST_F(FindingOrders, TheCatchUpScanFindsWhatBecamePendingLate) {
  // The window of the scan is two times the longest timeout: 20 minutes.
  DaemonProcess daemon(
      {.database_url = url(),
       .lines = {{"default", "{timeout: 1s, grace: 0s}"}, {"slow", "{timeout: 10m, grace: 0s}"}}});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  ASSERT_TRUE(await_nightly());
  const auto id = place_draft("now() - interval '15 minutes'");
  shop_.exec("update t_order set status = 'WAIT_PAY' where id = " + std::to_string(id));
  EXPECT_TRUE(await_closed(id));
  EXPECT_TRUE(daemon.await_audit("source=catch_up"));
  EXPECT_TRUE(
      await_count("order_timeout.sweep_run where kind = 'CATCH_UP' and status = 'SUCCESS'"
                  " and scanned = 1 and closed = 1 and finished_at >= started_at",
                  1));
}

// The order becomes pending when the sweep begins, so that nothing else can find it.
TEST_F(FindingOrders, ANightlySweepThatWasMissedRunsAtTheStart) {
  const auto id = place_draft("now() - interval '20 days'");
  shop_.exec(R"(
    create function wake() returns trigger language plpgsql security definer set search_path = public
    as $$ begin update t_order set status = 'WAIT_PAY' where status = 'DRAFT'; return null; end $$;
    create trigger wake after insert on order_timeout.sweep_run for each row
      when (new.kind = 'NIGHTLY') execute function wake();)");
  DaemonProcess daemon({.database_url = url(), .extra = kNoCatchUp});
  daemon.start();
  EXPECT_TRUE(await_closed(id));
  EXPECT_TRUE(daemon.await_audit("source=nightly"));
  EXPECT_TRUE(
      await_count("order_timeout.sweep_run where kind = 'NIGHTLY' and status = 'SUCCESS'"
                  " and scanned = 1 and closed = 1",
                  1));
  EXPECT_EQ(daemon.terminate(), 0);
  daemon.start();  // the night's sweep is done
  ASSERT_TRUE(daemon.await_ready());
  ASSERT_TRUE(await_closed(place_order()));
  EXPECT_EQ(count("order_timeout.sweep_run where kind = 'NIGHTLY'"), 1);
}

TEST_F(FindingOrders, OrdersBeyondTheMaximalAgeAreLeft) {
  const auto ancient = place_order("now() - interval '31 days'");
  const auto old = place_order("now() - interval '29 days'");
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  EXPECT_TRUE(await_closed(old));
  EXPECT_TRUE(daemon.await_log("too_old=1"));
  EXPECT_EQ(status_of(ancient), "WAIT_PAY");
  EXPECT_TRUE(await([&] {
    const auto status = daemon.status_json();
    return status.contains("too_old") && status.at("too_old").to_number<int>() == 1;
  }));
}

}  // namespace
}  // namespace order_timeout::testing
