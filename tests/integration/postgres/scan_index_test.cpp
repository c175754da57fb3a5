// Proves that scans, look-ups by order number and the close itself use the shop's own indexes
// through our views, for every type a shop's columns may have. The plans are PostgreSQL's for a
// table of 20,000 orders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/migrations.hpp"
#include "support/postgres_server.hpp"
#include "support/sql.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct ColumnTypes {
  std::string name, id, order_no, created_at, status;
};

void PrintTo(const ColumnTypes& types, std::ostream* out) { *out << types.name; }

class ScanIndex : public ::testing::TestWithParam<ColumnTypes> {
 protected:
  ScanIndex() {
    const ColumnTypes& t = GetParam();
    shop_.exec(
        "CREATE TYPE state AS ENUM ('1', '2', '3');"
        "CREATE TABLE orders (id " +
        t.id + " PRIMARY KEY, order_no " + t.order_no + " UNIQUE, line text, status " + t.status +
        ", created_at " + t.created_at +
        ");"
        "INSERT INTO orders SELECT n, n, 'shop', CASE WHEN n % 10 = 0 THEN '1'::" +
        t.status + " ELSE '2'::" + t.status +
        " END, now() - interval '1 min' * n FROM generate_series(1, 20000) n;"
        "CREATE INDEX orders_pending ON orders (created_at, id) WHERE status = '1';"
        "ANALYZE orders");
    OrderTableConfig mapping;
    mapping.name = "orders";
    mapping.columns = {.id = "id",
                       .order_no = "order_no",
                       .user_id = "",
                       .business_line = "line",
                       .status = "status",
                       .created_at = "created_at",
                       .version = "",
                       .deadline = "",
                       .amount = "",
                       .closed_at = "",
                       .paid_at = ""};
    mapping.pending = "1";
    mapping.closed = "2";
    mapping.paid = "3";
    mapping.time_zone = "Asia/Shanghai";
    const auto report = postgres::migrate(server_.url(database_), mapping, false);
    EXPECT_TRUE(report) << report.error().detail;
  }
  ~ScanIndex() override { server_.drop_database(database_); }

  std::string plan(const std::string& sql) {
    std::string text;
    for (const Row& row : shop_.rows("EXPLAIN (COSTS OFF) " + sql))
      text += row.at(0).value_or("") + '\n';
    return text;
  }

  PostgresServer& server_ = PostgresServer::shared();
  std::string database_ = server_.new_empty_database();
  Session shop_{server_.url(database_)};
};

TEST_P(ScanIndex, APageOfPendingOrdersReadsTheShopsPartialIndexInOrder) {
  const std::string text = plan(
      "SELECT id, created_raw FROM order_timeout.shop_order WHERE pending AND created_raw >= "
      "order_timeout.shop_time(now() - interval '1 h', created_raw) ORDER BY created_raw, id LIMIT "
      "100");
  EXPECT_THAT(text,
              AllOf(HasSubstr("using orders_pending"), HasSubstr("Index Cond: (created_at >="),
                    Not(HasSubstr("Sort")), Not(HasSubstr("Filter"))));
}

TEST_P(ScanIndex, ALaterPageBeginsAtItsPlaceInTheIndex) {
  const std::string text = plan(
      "SELECT id FROM order_timeout.shop_order WHERE pending AND (created_raw, id) > "
      "('2026-01-01'::" +
      GetParam().created_at + ", 5) ORDER BY created_raw, id LIMIT 100");
  EXPECT_THAT(text, AllOf(HasSubstr("using orders_pending"),
                          HasSubstr("Index Cond: (ROW(created_at"), Not(HasSubstr("Sort"))));
}

TEST_P(ScanIndex, DeadlinesAreComputedBesideTheIndexedScan) {
  const std::string text = plan(
      "SELECT id, close_deadline FROM order_timeout.timed_order WHERE pending AND created_raw < "
      "order_timeout.shop_time(now() - interval '13 days', created_raw) ORDER BY created_raw, id "
      "LIMIT 100");
  EXPECT_THAT(text, HasSubstr("using orders_pending"));
  EXPECT_THAT(text, HasSubstr("Index Cond: (created_at <"));
}

TEST_P(ScanIndex, OrderNumbersAreLookedUpInTheShopsIndex) {
  const std::string text = plan(
      "SELECT id FROM order_timeout.shop_order WHERE order_no_raw = ANY "
      "(order_timeout.order_number_keys('{11,12}', order_no_raw))");
  EXPECT_THAT(text, AllOf(HasSubstr("orders_order_no_key"), HasSubstr("Index Cond:"),
                          Not(HasSubstr("Seq Scan"))));
  EXPECT_EQ(shop_.value("SELECT count(*) FROM order_timeout.shop_order WHERE order_no_raw = ANY "
                        "(order_timeout.order_number_keys('{11,12}', order_no_raw))"),
            "2");
}

TEST_P(ScanIndex, OrderNumbersInAParameterAreLookedUpTheSameWay) {
  shop_.exec(
      "PREPARE look_up(text[]) AS SELECT id FROM order_timeout.shop_order WHERE order_no_raw = ANY "
      "(order_timeout.order_number_keys($1, order_no_raw)); SET plan_cache_mode = "
      "force_generic_plan");
  EXPECT_THAT(plan("EXECUTE look_up('{11}')"),
              AllOf(HasSubstr("orders_order_no_key"), Not(HasSubstr("Seq Scan"))));
}

TEST_P(ScanIndex, TheLockGoesThroughTheViewByPrimaryKeyInOrder) {
  const std::string text = plan(
      "SELECT id FROM order_timeout.shop_order WHERE id = ANY "
      "('{5,6}'::bigint[]) ORDER BY id FOR UPDATE SKIP LOCKED");
  EXPECT_THAT(text, AllOf(HasSubstr("LockRows"), HasSubstr("orders_pkey"),
                          Not(HasSubstr("Seq Scan")), Not(HasSubstr("Subquery Scan"))));
}

TEST_P(ScanIndex, ACloseReadsNoTableFromEndToEnd) {
  shop_.exec(
      "SELECT order_timeout.apply_rules(NULL, '{\"lines\":{\"default\":{\"timeout_ms\":1000,"
      "\"grace_ms\":0,\"action\":\"close\",\"on_close\":[\"A\"]}}}')");
  Session closer(server_.url(database_));  // with figures of its own
  closer.begin();
  EXPECT_EQ(closer.value("SELECT outcome FROM order_timeout.close_orders('{10}', NULL)"), "closed");
  EXPECT_EQ(closer.value("SELECT pg_stat_get_xact_tuples_returned('orders'::regclass)"), "0");
  closer.commit();
  EXPECT_EQ(shop_.value("SELECT status FROM orders WHERE id = 10"), "2");
}

INSTANTIATE_TEST_SUITE_P(
    Shops, ScanIndex,
    ::testing::Values(ColumnTypes{"TextAndTimestamptz", "bigint", "text", "timestamptz", "text"},
                      ColumnTypes{"VarcharAndTimestamp", "int", "varchar(40)", "timestamp",
                                  "varchar(10)"},
                      ColumnTypes{"BigintAndEnum", "smallint", "bigint", "timestamp(3)", "state"},
                      ColumnTypes{"IntegerStatus", "bigint", "text", "timestamptz", "int"}),
    [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace order_timeout::testing
