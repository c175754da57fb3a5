// Proves that a change of the order table under a running daemon stops closing, by name, and that
// closing goes on by itself when the table fits again: nothing is lost, nothing is quarantined.
#include <boost/json.hpp>

#include "support/reload_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::HasSubstr;

class SchemaChange : public ReloadFixture {
 protected:
  ProgramRun migrate(const DaemonProcess& daemon, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"--url", server_.url(database_), "migrate"};
    words.insert(words.end(), more.begin(), more.end());
    return ctl(daemon, words);
  }
};

TEST_F(SchemaChange, StopsClosingUntilTheTableFitsAgain) {
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  ASSERT_TRUE(await_closed(place_order()));
  ASSERT_EQ(migrate(daemon, {"--drop-view"}).exit_code, 0);
  EXPECT_TRUE(daemon.await_log("reason=schema_mismatch"));
  EXPECT_THAT(daemon.http_get("/metrics").body, HasSubstr("order_timeout_paused{scope=\"all\"} 1"));
  EXPECT_EQ(daemon.http_get("/readyz").status, 503);
  place_orders(20);
  EXPECT_EQ(ctl(daemon, {"reload"}).exit_code, 69) << "nor is a reload taken";
  shop_.exec("alter table t_order alter column amount_cents type numeric");
  EXPECT_EQ(count("t_order where status = 'WAIT_PAY'"), 20);
  const ProgramRun mended = migrate(daemon);
  ASSERT_EQ(mended.exit_code, 0) << mended.err;
  EXPECT_TRUE(await_released(21));
  EXPECT_TRUE(daemon.await_log("the order table fits again: closing resumes"));
  EXPECT_EQ(count("order_timeout.quarantine"), 0);
  expect_books_balance();
}

TEST_F(SchemaChange, IsRefusedByNameBeforeAnythingIsMade) {
  shop_.exec("drop schema order_timeout cascade");
  DaemonProcess daemon({.database_url = url()});
  daemon.setup().extra =
      "order_table: {name: public.t_order, columns: {id: order_no, created_at: amount_cents, "
      "deadline: pay_by}}";
  daemon.write_configuration();
  const ProgramRun run = migrate(daemon);
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.err,
              HasSubstr("order_table.columns.id: column order_no of public.t_order is text,"
                        " expected smallint, integer or bigint"));
  EXPECT_THAT(run.err,
              HasSubstr("column amount_cents of public.t_order is bigint, expected timestamp"));
  EXPECT_THAT(run.err, HasSubstr("table public.t_order has no column pay_by"));
}

TEST_F(SchemaChange, IsRefusedAtStartColumnByColumn) {
  DaemonProcess daemon({.database_url = url()});
  daemon.setup().extra =
      "order_table: {name: public.t_order, columns: {created_at: amount_cents, deadline: pay_by}, "
      "payments: {table: t_payments}}";
  daemon.start();
  EXPECT_EQ(daemon.wait_exit(), 78);
  for (const char* problem :
       {"reason=schema_mismatch", "remedy=\"order-timeoutctl migrate\"",
        "order_table.columns.created_at: column amount_cents of public.t_order is bigint, expected",
        "order_table.columns.deadline: table public.t_order has no column pay_by",
        "order_table.payments: there is no table t_payments"}) {
    EXPECT_THAT(daemon.log_text(), HasSubstr(problem));
  }
  const ProgramRun check = ctl(daemon, {"check"});
  EXPECT_EQ(check.exit_code, 3);
  EXPECT_THAT(check.out, HasSubstr("fail  columns: order_table.columns.deadline: table "
                                   "public.t_order has no column pay_by"));
}

}  // namespace
}  // namespace order_timeout::testing
