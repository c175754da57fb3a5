// Proves that no odd time closes an order early or stops the others: times without a zone in the
// hour that does not exist and in the one that comes twice, deadlines that never come, have always
// passed, or lie at the ends of what PostgreSQL can hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/embedded_sql.hpp"
#include "postgres/migrations.hpp"
#include "support/close_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::ElementsAre;

class OddDeadline : public ::testing::Test {
 protected:
  ~OddDeadline() override { server_.drop_database(database_); }

  // A line of 60 s and a grace of 10 s.
  void migrate(const std::string& time_type, const std::string& zone) {
    shop_.exec(
        "CREATE TABLE orders (id int PRIMARY KEY, no text, line text, status text DEFAULT "
        "'WAIT_PAY', created " +
        time_type + ", pay_by " + time_type + ")");
    OrderTableConfig mapping;
    mapping.name = "orders";
    mapping.columns = {.id = "id",
                       .order_no = "no",
                       .user_id = "",
                       .business_line = "line",
                       .status = "status",
                       .created_at = "created",
                       .version = "",
                       .deadline = "pay_by",
                       .amount = "",
                       .closed_at = "",
                       .paid_at = ""};
    mapping.time_zone = zone;
    const auto report = postgres::migrate(server_.url(database_), mapping, false);
    ASSERT_TRUE(report) << report.error().detail;
    shop_.exec(
        "SELECT order_timeout.apply_rules(NULL, '{\"lines\":{\"default\":{\"timeout_ms\":60000,"
        "\"grace_ms\":10000,\"action\":\"close\",\"on_close\":[]}}}')");
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
  std::vector<std::string> close(const std::string& ids) {
    Session daemon(server_.url(database_, "order_timeout_daemon"));
    std::vector<std::string> outcomes;
    for (const Row& row :
         daemon.rows("SELECT outcome FROM order_timeout.close_orders('{" + ids + "}', NULL)")) {
      outcomes.push_back(row.at(0).value_or("NULL"));
    }
    return outcomes;
  }

  PostgresServer& server_ = PostgresServer::shared();
  std::string database_ = server_.new_empty_database();
  Session shop_{server_.url(database_)};
};

// New York skips 02:00 to 03:00 on 2026-03-08.
TEST_F(OddDeadline, AnHourThatDoesNotExistIsReadAsTheLaterOne) {
  migrate("timestamp", "America/New_York");
  place(1, "'2026-03-08 02:30:00'");
  EXPECT_EQ(deadline(1), "2026-03-08T07:31:10.000Z") << "03:30 in summer time, never 01:30";
}

// New York has 01:00 to 02:00 twice on 2026-11-01.
TEST_F(OddDeadline, AnHourThatComesTwiceIsReadAsTheSecond) {
  migrate("timestamp", "America/New_York");
  place(1, "'2026-11-01 01:30:00'");
  place(2, "'2026-01-01 00:00:00'", "'2026-11-01 01:30:00'");
  EXPECT_EQ(deadline(1), "2026-11-01T06:31:10.000Z");
  EXPECT_EQ(deadline(2), "2026-11-01T06:30:10.000Z");
}

TEST_F(OddDeadline, ATimeoutAcrossAChangeOfClocksIsAsLongAsAnyOther) {
  migrate("timestamptz", "UTC");
  shop_.exec("SET timezone = 'America/New_York'");
  place(1, "'2026-03-08 01:59:30-05'");
  place(2, "'2026-11-01 01:59:30-04'");
  EXPECT_EQ(deadline(1), "2026-03-08T07:00:40.000Z");
  EXPECT_EQ(deadline(2), "2026-11-01T06:00:40.000Z");
}

TEST_F(OddDeadline, AClosingSessionsOwnZoneChangesNothing) {
  migrate("timestamp", "Asia/Shanghai");
  place(1, "now() AT TIME ZONE 'Asia/Shanghai' - interval '69 s'");
  place(2, "now() AT TIME ZONE 'Asia/Shanghai' - interval '71 s'");
  Session daemon(server_.url(database_, "order_timeout_daemon"));
  daemon.exec("SET timezone = 'Australia/Brisbane'");
  const Rows rows = daemon.rows("SELECT outcome FROM order_timeout.close_orders('{1,2}', NULL)");
  EXPECT_EQ(rows.at(0).at(0), "not_due");
  EXPECT_EQ(rows.at(1).at(0), "closed");
}

TEST_F(OddDeadline, TheEndsOfTimeNeitherCloseEarlyNorStopTheOthers) {
  migrate("timestamptz", "UTC");
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
  migrate("timestamptz", "UTC");
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
  migrate("timestamptz", "UTC");
  place(1, "now() + interval '1 hour'");
  place(2, "now() + interval '1 hour'", "now() - interval '11 s'");
  EXPECT_THAT(close("1,2"), ElementsAre("not_due", "closed"));
}

}  // namespace
}  // namespace order_timeout::testing
