// Proves that no odd time closes an order early or stops the others: times without a zone in the
// hour that does not exist and in the one that comes twice, deadlines that never come, have always
// passed, or lie at the ends of what PostgreSQL can hold.
#include "integration/postgres/bare_shop_fixture.hpp"
#include "postgres/embedded_sql.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::ElementsAre;

class OddDeadline : public BareShop {
 protected:
  void make_shop(const std::string& time_type, const std::string& zone) {
    shop_.exec(
        "CREATE TABLE orders (id int PRIMARY KEY, no text, line text, status text DEFAULT "
        "'WAIT_PAY', created " +
        time_type + ", pay_by " + time_type + ")");
    mapping_.columns.deadline = "pay_by";
    mapping_.time_zone = zone;
    migrate();
  }
  void place(int id, const std::string& created, const std::string& pay_by = "NULL") {
    shop_.exec("INSERT INTO orders VALUES (" + std::to_string(id) + ", '" + std::to_string(id) +
               "', 'x', DEFAULT, " + created + ", " + pay_by + ")");
  }
  std::string deadline(int id) {
    return shop_.value(
        "SELECT order_timeout.rfc3339(close_deadline) FROM "
        "order_timeout.timed_order WHERE id = " +
        std::to_string(id));
  }
};

// New York skips 02:00 to 03:00 on 2026-03-08.
TEST_F(OddDeadline, AnHourThatDoesNotExistIsReadAsTheLaterOne) {
  make_shop("timestamp", "America/New_York");
  place(1, "'2026-03-08 02:30:00'");
  EXPECT_EQ(deadline(1), "2026-03-08T07:31:10.000Z") << "03:30 in summer time, never 01:30";
}

// New York has 01:00 to 02:00 twice on 2026-11-01.
TEST_F(OddDeadline, AnHourThatComesTwiceIsReadAsTheSecond) {
  make_shop("timestamp", "America/New_York");
  place(1, "'2026-11-01 01:30:00'");
  place(2, "'2026-01-01 00:00:00'", "'2026-11-01 01:30:00'");
  EXPECT_EQ(deadline(1), "2026-11-01T06:31:10.000Z");
  EXPECT_EQ(deadline(2), "2026-11-01T06:30:10.000Z");
}

TEST_F(OddDeadline, ATimeoutAcrossAChangeOfClocksIsAsLongAsAnyOther) {
  make_shop("timestamptz", "UTC");
  shop_.exec("SET timezone = 'America/New_York'");
  place(1, "'2026-03-08 01:59:30-05'");
  place(2, "'2026-11-01 01:59:30-04'");
  EXPECT_EQ(deadline(1), "2026-03-08T07:00:40.000Z");
  EXPECT_EQ(deadline(2), "2026-11-01T06:00:40.000Z");
}

TEST_F(OddDeadline, AClosingSessionsOwnZoneChangesNothing) {
  make_shop("timestamp", "Asia/Shanghai");
  place(1, "now() AT TIME ZONE 'Asia/Shanghai' - interval '69 s'");
  place(2, "now() AT TIME ZONE 'Asia/Shanghai' - interval '71 s'");
  Session daemon(server_.url(database_, "order_timeout_daemon"));
  daemon.exec("SET timezone = 'Australia/Brisbane'");
  const Rows rows = daemon.rows("SELECT outcome FROM order_timeout.close_orders('{1,2}', NULL)");
  EXPECT_EQ(rows.at(0).at(0), "not_due");
  EXPECT_EQ(rows.at(1).at(0), "closed");
}

TEST_F(OddDeadline, TheEndsOfTimeNeitherCloseEarlyNorStopTheOthers) {
  make_shop("timestamptz", "UTC");
  const std::string due = "now() - interval '71 s'";
  place(1, due, "'infinity'");
  place(2, due, "'294276-12-31 23:59:59.999999+00'");  // the last that PostgreSQL knows
  place(3, due, "'9999-12-31 23:59:59+00'");
  place(4, "'294276-12-31 23:59:59.999999+00'");
  place(5, "'infinity'");
  place(6, due, "'-infinity'");
  place(7, due, "'4713-11-24 00:00:00+00 BC'");  // the first
  place(8, "'-infinity'");
  place(9, due);
  EXPECT_THAT(close("1,2,3,4,5,6,7,8,9"),
              ElementsAre("not_due", "not_due", "not_due", "not_due", "not_due", "closed", "closed",
                          "closed", "closed"));
  EXPECT_EQ(shop_.value("SELECT count(*) FROM order_timeout.order_deadline"), "9");
}

TEST_F(OddDeadline, TheEndsOfTimeDoNotStopAScan) {
  make_shop("timestamptz", "UTC");
  place(1, "'294276-12-31 23:59:59.999999+00'");
  place(2, "now() - interval '71 s'", "'294276-12-31 23:59:59.999999+00'");
  place(3, "'-infinity'");
  place(4, "now() - interval '71 s'");
  for (const std::string query : {"scan_pending", "scan_due"}) {
    const std::string sql(postgres::embedded_sql("queries/" + query + ".sql"));
    shop_.exec("PREPARE " + query + " AS " + sql);
    EXPECT_GE(shop_.rows("EXECUTE " + query + "('-infinity', -1, 100)").size(), 3U) << query;
  }
}

TEST_F(OddDeadline, AnOrderFromTheFutureWaitsForItsOwnTime) {
  make_shop("timestamptz", "UTC");
  place(1, "now() + interval '1 hour'");
  place(2, "now() + interval '1 hour'", "now() - interval '11 s'");
  EXPECT_THAT(close("1,2"), ElementsAre("not_due", "closed"));
}

}  // namespace
}  // namespace order_timeout::testing
