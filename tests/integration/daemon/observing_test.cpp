// Proves what the daemon shows of itself: pages, status.json, logs that parse, and that no secret
// of its configuration is in any of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

#include "support/daemon_process.hpp"
#include "support/redis_server.hpp"
#include "support/shop_fixture.hpp"
#include "support/stock_service.hpp"

namespace order_timeout::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class Observing : public ShopFixture {};

TEST_F(Observing, MetricsTellOfPendingClosedAndReleasedOrders) {
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  place_orders(30);
  ASSERT_TRUE(await_released(30));
  place_orders(7, "default", "clock_timestamp() + interval '1 hour'");
  const auto scraped = [&](const std::string& text) {
    return await([&] { return daemon.http_get("/metrics").body.find(text) != std::string::npos; });
  };
  shop_.exec(
      "insert into order_timeout.outbox (event_key, order_id, order_no, event_type, payload, due)"
      " values ('9:REFUND:P', 9, 'SO9', 'REFUND', '{}', now())");  // no sink takes it
  EXPECT_TRUE(scraped("order_timeout_pending_orders 7\n"));
  EXPECT_TRUE(scraped("order_timeout_outbox_events{event_type=\"REFUND\",status=\"PENDING\"} 1"));
  const HttpAnswer metrics = daemon.http_get("/metrics");
  EXPECT_EQ(metrics.status, 200);
  for (const char* name :
       {"overdue_orders 0", "oldest_overdue_seconds 0", "closed_total{", "decisions_total{",
        "close_lateness_seconds_count 30", "due_to_released_seconds_count 30",
        "close_batch_seconds_bucket{", "outbox_oldest_claimable_seconds", "sink_requests_total{",
        "sink_seconds_bucket{", "component_up{component=\"postgres\"} 1",
        "clock_skew_seconds{source=\"postgres\"}", "rebuild_seconds", "paused{scope=\"all\"} 0",
        "wheel_bytes"}) {
    EXPECT_THAT(metrics.body, HasSubstr("order_timeout_" + std::string(name)));
  }
  shop_.exec(
      "insert into order_timeout.pause (scope, \"by\", reason) values ('line:default', 'me', 'r')");
  EXPECT_TRUE(scraped("order_timeout_paused{scope=\"line:default\"} 1"));
  shop_.exec("delete from order_timeout.pause");
  EXPECT_TRUE(scraped("order_timeout_paused{scope=\"line:default\"} 0"));
  EXPECT_EQ(daemon.http_get("/healthz").status, 200);
  EXPECT_EQ(daemon.http_get("/readyz").status, 200);
  EXPECT_EQ(daemon.http_get("/orders").status, 404);
}

TEST_F(Observing, StatusJsonHasTheFigures) {
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  place_orders(25);
  place_orders(5, "default", "clock_timestamp() + interval '1 hour'");
  boost::json::object status;
  EXPECT_TRUE(await([&] {
    status = daemon.status_json();
    return status.contains("delivered") && status.at("delivered").to_number<int>() == 25;
  }));
  EXPECT_EQ(status.at("closed"), 25);
  EXPECT_EQ(status.at("pending"), 5);
  EXPECT_EQ(status.at("overdue"), 0);
  EXPECT_EQ(status.at("dead"), 0);
  EXPECT_EQ(status.at("ready"), true);
  EXPECT_EQ(status.at("components").at("postgres"), "up");
}

TEST_F(Observing, JsonLogsParseLineByLine) {
  DaemonProcess daemon({.database_url = url(), .extra = "log: {format: json, level: debug}\n"});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  place_orders(5);
  ASSERT_TRUE(await_released(5));
  EXPECT_EQ(daemon.terminate(), 0);
  int closed = 0;
  for (const std::string& text : {daemon.log_text(), daemon.audit_text()}) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      boost::json::error_code error;
      const boost::json::value entry = boost::json::parse(line, error);
      ASSERT_FALSE(error) << line;
      for (const char* key : {"ts", "level", "component", "message"}) {
        EXPECT_TRUE(entry.as_object().contains(key)) << line;
      }
      closed += entry.at("component") == "close" && entry.at("message") == "closed" ? 1 : 0;
    }
  }
  EXPECT_EQ(closed, 5);
}

// Also while servers that know the secrets fail.
TEST_F(Observing, NoSecretShowsAnywhere) {
  test::RedisServer redis({.requirepass = "rEdis-s3cret", .arguments = {}});
  stock::StockService service;
  std::string database_url = url();
  database_url.replace(database_url.find("///"), 3, "//order_timeout_daemon:pg-s3cret@/");
  DaemonProcess daemon({.database_url = database_url,
                        .redis_url = redis.url(),
                        .release_stock = "{sink: http, url: \"" + service.url() +
                                         "\", headers: {Authorization: \"Bearer head-s3cret\"}}",
                        .extra = "log: {level: trace}\n"});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  ASSERT_TRUE(daemon.await_log("redis: up"));
  place_orders(3);
  ASSERT_TRUE(service.wait_for_calls(3, kPatience));
  EXPECT_EQ(service.last_request().headers.at("authorization"), "Bearer head-s3cret");
  stock::Fault fault;
  fault.kind = stock::FaultKind::status;
  fault.status = 401;
  service.set_fault(fault);
  redis.stop();
  place_orders(3);
  ASSERT_TRUE(service.wait_for_calls(4, kPatience));
  ASSERT_TRUE(daemon.await_log("redis: down"));
  shop_.exec(
      "select pg_terminate_backend(pid) from pg_stat_activity where usename ="
      " 'order_timeout_daemon' and datname = current_database()");
  ASSERT_TRUE(await([&] { return daemon.http_get("/metrics").status == 200; }));
  std::string shown = daemon.http_get("/metrics").body + daemon.http_get("/readyz").body;
  EXPECT_EQ(daemon.terminate(), 0);
  shown += boost::json::serialize(daemon.status_json());
  daemon.setup().arguments = {"--print-config"};
  daemon.start();
  EXPECT_EQ(daemon.wait_exit(), 0);
  EXPECT_THAT(daemon.output_text(), HasSubstr("order_table"));
  shown += daemon.output_text() + daemon.log_text() + daemon.audit_text();
  EXPECT_THAT(shown, Not(HasSubstr("s3cret")));
}

}  // namespace
}  // namespace order_timeout::testing
