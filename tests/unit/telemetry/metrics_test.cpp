// Proves that a scrape holds exactly the figures that were set, under the names of the contract,
// and that foreign text cannot make the number of time series grow without bound.
#include "telemetry/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace order_timeout::telemetry {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Metrics, CarryEveryNameOfTheContract) {
  Metrics metrics;
  metrics.decided(CloseOutcome::closed, "default", Source::wheel, 3);
  metrics.set_outbox({{"RELEASE_STOCK", "PENDING", 1}});
  metrics.sink_request("release_stock", DeliveryKind::done, 0.01);
  metrics.set_component("redis", true);
  metrics.set_clock_skew("postgres", 0.001);
  metrics.set_paused("all", false);
  metrics.guard_tripped("clock_fence");
  const std::string text = metrics.scrape();
  for (const char* name : {"pending_orders",
                           "overdue_orders",
                           "oldest_overdue_seconds",
                           "closed_total",
                           "decisions_total",
                           "close_lateness_seconds",
                           "due_to_released_seconds",
                           "close_batch_seconds",
                           "outbox_events",
                           "outbox_oldest_claimable_seconds",
                           "sink_requests_total",
                           "sink_seconds",
                           "sink_breaker_open",
                           "component_up",
                           "clock_skew_seconds",
                           "rebuild_seconds",
                           "paused",
                           "guard_tripped_total",
                           "config_reloads_total",
                           "wheel_bytes"}) {
    EXPECT_THAT(text, HasSubstr("# TYPE order_timeout_" + std::string{name} + " "));
  }
}

TEST(Metrics, CountACloseByLineSourceAndLateness) {
  Metrics metrics;
  metrics.decided(CloseOutcome::closed, "flash_sale", Source::wheel, 3);
  metrics.decided(CloseOutcome::closed, "flash_sale", Source::wheel, Duration{40});
  const std::string text = metrics.scrape();
  EXPECT_THAT(
      text,
      HasSubstr("order_timeout_closed_total{business_line=\"flash_sale\",source=\"wheel\"} 2\n"));
  EXPECT_THAT(
      text, HasSubstr("order_timeout_decisions_total{decision=\"closed\",reason=\"closed\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("order_timeout_close_lateness_seconds_bucket{le=\"0.005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("order_timeout_close_lateness_seconds_bucket{le=\"3600\"} 2\n"));
}

TEST(Metrics, CountADecisionThatIsNoCloseAsADecisionOnly) {
  Metrics metrics;
  metrics.decided(CloseOutcome::payment_evidence, "default", Source::wheel, 3);
  const std::string text = metrics.scrape();
  EXPECT_THAT(
      text,
      HasSubstr(
          "order_timeout_decisions_total{decision=\"held\",reason=\"payment_evidence\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("order_timeout_close_lateness_seconds_count 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("order_timeout_closed_total{")));
  EXPECT_EQ(metrics.totals().held, 1U);
}

TEST(Metrics, TellOneHundredBusinessLinesApartAndNoMore) {
  Metrics metrics;
  for (int i = 0; i < 500; ++i) {
    metrics.decided(CloseOutcome::closed, "line" + std::to_string(i), Source::wheel, 1);
  }
  const std::string text = metrics.scrape();
  EXPECT_EQ(count(text, "order_timeout_closed_total{"), 101U);
  EXPECT_THAT(
      text,
      HasSubstr("order_timeout_closed_total{business_line=\"other\",source=\"wheel\"} 400\n"));
}

TEST(Metrics, EscapeForeignLabelValues) {
  Metrics metrics;
  metrics.decided(CloseOutcome::closed, "a\"b\n\xff", Source::wheel, 1);
  metrics.decided(CloseOutcome::closed, "", Source::wheel, 1);
  const std::string text = metrics.scrape();
  EXPECT_THAT(text, HasSubstr(R"({business_line="a\"b\\n\\xff",source="wheel"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"({business_line="none",source="wheel"} 1)"));
}

TEST(Metrics, ForgetOutboxCountsThatAreNoLongerNamed) {
  Metrics metrics;
  metrics.set_outbox({{"RELEASE_STOCK", "PENDING", 7}, {"RELEASE_STOCK", "DEAD", 1}});
  metrics.set_outbox({{"RELEASE_STOCK", "DEAD", 2}});
  const std::string text = metrics.scrape();
  EXPECT_THAT(
      text,
      HasSubstr(
          "order_timeout_outbox_events{event_type=\"RELEASE_STOCK\",status=\"PENDING\"} 0\n"));
  EXPECT_THAT(
      text,
      HasSubstr("order_timeout_outbox_events{event_type=\"RELEASE_STOCK\",status=\"DEAD\"} 2\n"));
}

TEST(Metrics, ShowGaugesAsLastSet) {
  Metrics metrics;
  metrics.set_pending(12);
  metrics.set_overdue(3, 1.5);
  metrics.set_component("redis", true);
  metrics.set_component("redis", false);
  metrics.set_paused("all", true);
  metrics.config_reload("refused");
  const std::string text = metrics.scrape();
  EXPECT_THAT(text, HasSubstr("order_timeout_pending_orders 12\n"));
  EXPECT_THAT(text, HasSubstr("order_timeout_overdue_orders 3\n"));
  EXPECT_THAT(text, HasSubstr("order_timeout_oldest_overdue_seconds 1.5\n"));
  EXPECT_THAT(text, HasSubstr("order_timeout_component_up{component=\"redis\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("order_timeout_paused{scope=\"all\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("order_timeout_config_reloads_total{result=\"refused\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("order_timeout_config_reloads_total{result=\"ok\"} 0\n"));
}

TEST(Metrics, GiveTheLatenessSinceTheLastTimeItWasTaken) {
  Metrics metrics;
  metrics.decided(CloseOutcome::closed, "default", Source::wheel, 9);
  EXPECT_EQ(metrics.take_lateness().max_ms, 9);
  metrics.decided(CloseOutcome::closed, "default", Source::wheel, 5);
  const LatenessSummary lately = metrics.take_lateness();
  EXPECT_EQ(lately.max_ms, 5);
  EXPECT_EQ(lately.count, 1U);
  EXPECT_EQ(metrics.take_lateness().count, 0U);
  EXPECT_EQ(metrics.lateness_since_start().count, 2U);
  EXPECT_EQ(metrics.totals().closed, 2U);
}

}  // namespace
}  // namespace order_timeout::telemetry
