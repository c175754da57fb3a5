// Proves the main job with the real program: due orders are closed once, never early, and their
// stock is released once, over HTTP and by SQL; what must stay open stays open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/daemon_process.hpp"
#include "support/shop_fixture.hpp"
#include "support/stock_service.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::HasSubstr;

class ClosingDaemon : public ShopFixture {};

TEST_F(ClosingDaemon, ClosesDueOrdersAndReleasesStockByTheSqlSinkWithoutRedis) {
  place_orders(200, "default", "now() - interval '10 minutes'");
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  place_orders(300);
  EXPECT_TRUE(await_released(500));
  expect_books_balance();
  EXPECT_EQ(daemon.terminate(), 0);
}

TEST_F(ClosingDaemon, ReleasesStockOverHttp) {
  const std::string books = server_.url(database_);
  stock::StockService service({.database_url = books});
  DaemonProcess daemon(
      {.database_url = url(), .release_stock = "{sink: http, url: \"" + service.url() + "\"}"});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  place_orders(300);
  EXPECT_TRUE(await_released(300));
  expect_books_balance();
  EXPECT_THAT(service.last_request().body, HasSubstr("\"event_type\": \"RELEASE_STOCK\""));
  EXPECT_EQ(daemon.terminate(), 0);
}

}  // namespace
}  // namespace order_timeout::testing
