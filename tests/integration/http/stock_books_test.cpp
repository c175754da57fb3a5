// The stock service's books in PostgreSQL: the stock moves once a key, in the transaction that
// remembers the key, and every call is listed.
#include "support/stock_books.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "support/postgres_server.hpp"
#include "support/sql.hpp"

namespace order_timeout::stock {
namespace {

using order_timeout::testing::PostgresServer;
using order_timeout::testing::Session;

constexpr const char* kShop = ORDER_TIMEOUT_SOURCE_DIR "/sql/sample/shop.sql";

std::string content_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class StockBooksTest : public ::testing::Test {
 protected:
  StockBooksTest()
      : url_(PostgresServer::shared().url(PostgresServer::shared().new_empty_database())),
        session_(url_) {
    session_.exec(content_of(kShop));
    session_.exec(
        "insert into t_stock (sku_id, available, reserved) values (1, 0, 100), (2, 0, 100)");
    books_ = make_stock_books_in_postgres(url_);
  }

  static Release release(const std::string& key, std::vector<ReleasedItem> items) {
    return {key, 1, std::move(items)};
  }

  std::string stock(int sku) {
    return session_.value("select available || '/' || reserved from t_stock where sku_id = " +
                          std::to_string(sku));
  }

  std::string url_;
  Session session_;
  std::unique_ptr<StockBooks> books_;
};

TEST_F(StockBooksTest, MovesTheStockOnceAKey) {
  const auto both = release("1:RELEASE_STOCK", {{2, 3}, {1, 2}});
  EXPECT_EQ(books_->apply(both, {"200", "409"}), Applied::fresh);
  EXPECT_EQ(books_->apply(both, {"200", "409"}), Applied::repeated);
  EXPECT_EQ(stock(1), "2/98");
  EXPECT_EQ(stock(2), "3/97");
  EXPECT_EQ(session_.value("select string_agg(answer, ' ' order by id) from t_stock_call"),
            "200 409");
}

TEST_F(StockBooksTest, MovesNothingWhereAnItemIsUnknownAndLeavesTheKeyFree) {
  const auto unknown = release("1:RELEASE_STOCK", {{1, 2}, {99, 1}});
  EXPECT_EQ(books_->apply(unknown, {"200", "409"}), Applied::unknown_sku);
  EXPECT_EQ(stock(1), "0/100");
  EXPECT_EQ(books_->effects("1:RELEASE_STOCK"), 0);
  EXPECT_EQ(books_->calls("1:RELEASE_STOCK"), 1);
}

TEST_F(StockBooksTest, CountsCallsKeysAndEffects) {
  books_->apply(release("a", {{1, 2}}), {"200", "409"});
  books_->apply(release("a", {{1, 2}}), {"200", "409"});
  books_->note_call("b", "503");
  const auto totals = books_->totals();
  EXPECT_EQ(totals.calls, 3);
  EXPECT_EQ(totals.keys, 2);
  EXPECT_EQ(totals.repeated_keys, 1);
  EXPECT_EQ(totals.effects, 1);
  EXPECT_EQ(totals.units, 2);
}

TEST_F(StockBooksTest, MovesTheStockOnceWhereManyThreadsBringTheSameKeys) {
  const auto work = [this] {
    for (int i = 0; i < 40; ++i) {
      books_->apply(release(std::to_string(i), {{2, 1}, {1, 1}}), {"200", "409"});
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(stock(1), "40/60");
  EXPECT_EQ(stock(2), "40/60");
  EXPECT_EQ(books_->totals().calls, 160);
}

TEST_F(StockBooksTest, KeepsItsBooksThroughALostConnection) {
  books_->apply(release("a", {{1, 2}}), {"200", "409"});
  session_.exec(
      "select pg_terminate_backend(pid) from pg_stat_activity "
      "where datname = current_database() and pid <> pg_backend_pid()");
  EXPECT_EQ(books_->apply(release("b", {{1, 2}}), {"200", "409"}), Applied::fresh);
  EXPECT_EQ(stock(1), "4/96");
}

}  // namespace
}  // namespace order_timeout::stock
