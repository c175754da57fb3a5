// Proves that the running daemon follows an order's own deadline wherever the shop moves it:
// brought forward it closes within moments, put off it stays open, also in the last second, and
// never early.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/daemon_process.hpp"
#include "support/program.hpp"
#include "support/shop_fixture.hpp"

namespace order_timeout::testing {
namespace {

using namespace std::chrono_literals;

const std::string kOrderTable =
    "order_table:\n  name: public.t_order\n  columns: {paid_at: paid_at, deadline: pay_by}\n"
    "  items: {table: public.t_order_item, order_id: order_id, columns: [sku_id, qty]}\n"
    "sweep: {catch_up_interval: 1h}\n";
const std::string kDue = "coalesce(o.pay_by, o.created_at + interval '1 hour')";

class OwnDeadline : public ShopFixture {
 protected:
  OwnDeadline() {
    shop_.exec(
        "alter table t_order add pay_by timestamptz;"
        "create index on t_order (pay_by) where status = 'WAIT_PAY'");
    const ProgramRun run = run_program(
        {ORDER_TIMEOUTCTL, "--config", write_configuration(), "migrate", "--url", url("postgres")});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    daemon_.start();
    EXPECT_TRUE(daemon_.await_ready());
  }

  std::string write_configuration() {
    daemon_.write_configuration();
    return daemon_.config_file().string();
  }
  void pay_by(std::int64_t id, const std::string& instant) {
    shop_.exec("update t_order set pay_by = " + instant + " where id = " + std::to_string(id));
  }
  bool await_closed(std::int64_t id) {
    return await([&] { return status_of(id) == "CLOSED"; });
  }

  DaemonProcess daemon_{{.database_url = url(),
                         .lines = {{"default", "{timeout: 1h, grace: 0s}"}},
                         .extra = kOrderTable}};
};

TEST_F(OwnDeadline, BroughtForwardIsHonouredByTheNextDiscovery) {
  const PlacedOrders placed = place_orders(20);
  pay_by(placed.first, "now() + interval '30 minutes'");
  const std::int64_t seen = place_order();
  pay_by(seen, "clock_timestamp() + interval '500 milliseconds'");
  ASSERT_TRUE(await_closed(seen));  // by now the daemon knows the others
  shop_.exec(
      "update t_order set pay_by = clock_timestamp() + interval '1 second' where status = "
      "'WAIT_PAY'");
  EXPECT_TRUE(await_count("t_order where status = 'CLOSED'", 21));
  EXPECT_LT(lateness(kDue).max_ms, 5'000);
  EXPECT_TRUE(await_released(21));
  expect_books_balance(kDue);
}

TEST_F(OwnDeadline, PutOffInTheLastSecondIsHeeded) {
  const std::int64_t id = place_order();
  const std::int64_t other = place_order();
  shop_.exec("update t_order set pay_by = clock_timestamp() + interval '1 second'");
  ASSERT_TRUE(await([&] {
    return shop_.value(
               "select clock_timestamp() > min(pay_by) - interval "
               "'300 milliseconds' from t_order") == "t";
  }));
  pay_by(id, "pay_by + interval '2 seconds'");
  EXPECT_TRUE(await_closed(other));
  EXPECT_TRUE(await_closed(id));
  EXPECT_TRUE(await_released(2));
  expect_books_balance(kDue);
}

}  // namespace
}  // namespace order_timeout::testing
