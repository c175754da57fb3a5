// The sample shop for tests of the running daemon: a fresh database, orders that took their stock,
// a history written by a trigger, and the books that are judged from both, never from what the
// daemon says of itself.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "support/daemon_process.hpp"
#include "support/postgres_server.hpp"
#include "support/sql.hpp"

namespace order_timeout::testing {

// True once `condition` holds, asked every 10 ms; false when it did not within `patience`.
bool await(const std::function<bool()>& condition, std::chrono::milliseconds patience = kPatience);

struct PlacedOrders {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

struct Lateness {
  std::int64_t closed = 0;  // orders it is taken from
  double p50_ms = 0;
  double p99_ms = 0;
  double p999_ms = 0;
  double max_ms = 0;
};

inline const std::string kDueAfterOneSecond = "o.created_at + interval '1 second'";

class ShopFixture : public ::testing::Test {
 protected:
  // Every SKU (1 to 10) begins with so many pieces.
  static constexpr int kSkus = 10;
  static constexpr int kPiecesAtStart = 1'000'000;

  ShopFixture() : ShopFixture(PostgresServer::shared()) {}
  // With the history trigger installed.
  explicit ShopFixture(PostgresServer& server);
  ~ShopFixture() override;

  std::string url(const std::string& user = "order_timeout_daemon") const {
    return server_.url(database_, user);
  }
  // Pending orders with one item each and its stock reserved, in one statement. `created_at` is an
  // SQL expression and may use n (1 to count). order_no is 'SO' || id. An empty line is NULL.
  PlacedOrders place_orders(int count, const std::string& line = "default",
                            const std::string& created_at = "clock_timestamp()");
  std::int64_t place_order(const std::string& created_at = "clock_timestamp()",
                           const std::string& line = "default");

  std::string status_of(std::int64_t id);
  std::int64_t count(const std::string& from_where);  // select count(*) from …
  bool await_count(const std::string& from_where, std::int64_t expected,
                   std::chrono::milliseconds patience = kPatience);
  // Closed and its stock released.
  bool await_released(std::int64_t orders, std::chrono::milliseconds patience = kPatience);

  // Each fails the test with what differs. `due` is an SQL expression over t_order o: from when on
  // an order may be closed.
  void expect_none_early(const std::string& due = kDueAfterOneSecond);
  void expect_closed_once();    // from WAIT_PAY, one change of status an order
  void expect_one_event();      // RELEASE_STOCK a closed order, none for others; REFUND aside
  void expect_released_once();  // each key of a closed order in the stock's books, no other
  void expect_stock_exact();    // on hand + reserved by orders that are not closed = at the start
  void expect_books_balance(const std::string& due = kDueAfterOneSecond);  // all five
  // Commit of the close after the due instant.
  Lateness lateness(const std::string& due = kDueAfterOneSecond);

  PostgresServer& server_;
  std::string database_;
  Session shop_;  // superuser: the shop, and whoever looks

 private:
  void install_history();
  std::string offenders(const std::string& query);
};

}  // namespace order_timeout::testing
