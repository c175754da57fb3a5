// Proves how the payment gateway is configured: what is read, what stands where nothing is said,
// and what is refused.
#include <gmock/gmock.h>

#include "config_fixture.hpp"

namespace order_timeout {
namespace {

using namespace std::chrono_literals;
using test::config_of;
using test::errors_of;
using test::kShort;
using test::sources_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::string with_url(const std::string& url) {
  return kShort + "payment_check: {url: \"" + url + "\"}\n";
}

TEST(PaymentCheckConfig, IsReadWhole) {
  const Config config = config_of(
      kShort +
      "business_lines: {default: {payment_check: true}, flash: {}, plain: {payment_check: false}}\n"
      "payment_check: {url: \"http://localhost:1/x?o={order_no}\", connect_timeout: 1s,\n"
      "  read_timeout: 2s, concurrency: 3, none: [N], in_progress: [], paid: [P, Q],\n"
      "  retry_after: 4s, max_delay: 5m, unknown: hold}\n");
  ASSERT_TRUE(config.payment_check);
  EXPECT_EQ(config.payment_check->url, "http://localhost:1/x?o={order_no}");
  EXPECT_EQ(config.payment_check->connect_timeout, 1s);
  EXPECT_EQ(config.payment_check->read_timeout, 2s);
  EXPECT_EQ(config.payment_check->concurrency, 3);
  EXPECT_THAT(config.payment_check->none, ElementsAre("N"));
  EXPECT_THAT(config.payment_check->in_progress, ElementsAre());
  EXPECT_THAT(config.payment_check->paid, ElementsAre("P", "Q"));
  EXPECT_EQ(config.payment_check->retry_after, 4s);
  EXPECT_EQ(config.payment_check->max_delay, 5min);
  EXPECT_EQ(config.payment_check->unknown, UnknownPayment::hold);
  EXPECT_TRUE(config.business_lines.at("flash").payment_check);
  EXPECT_FALSE(config.business_lines.at("plain").payment_check);
}

TEST(PaymentCheckConfig, HasSensibleDefaults) {
  const Config config = config_of(with_url("http://127.0.0.1:8082/{order_no}"));
  ASSERT_TRUE(config.payment_check);
  PaymentCheckConfig expected;
  expected.url = "http://127.0.0.1:8082/{order_no}";
  expected.none = {"NONE", "FAILED"};
  expected.in_progress = {"PAYING"};
  expected.paid = {"PAID"};
  EXPECT_EQ(*config.payment_check, expected);
}

TEST(PaymentCheckConfig, IsAbsentWhereNothingOrNullIsSaid) {
  EXPECT_FALSE(config_of(kShort).payment_check);
  EXPECT_FALSE(config_of(kShort + "payment_check: ~\n").payment_check);
}

TEST(PaymentCheckConfig, RefusesAUrlThatCannotBeAsked) {
  EXPECT_THAT(errors_of(sources_of(with_url("http://127.0.0.1/x"))),
              HasSubstr("payment_check.url: {order_no} is missing"));
  EXPECT_THAT(errors_of(sources_of(with_url("http://127.0.0.1{order_no}/x"))),
              HasSubstr("{order_no} belongs behind the host"));
  EXPECT_THAT(errors_of(sources_of(with_url("https://127.0.0.1/{order_no}"))),
              HasSubstr("https is not in this version"));
  EXPECT_THAT(errors_of(sources_of(with_url("http://10.0.0.1/{order_no}"))),
              HasSubstr("http beyond this machine"));
  EXPECT_THAT(errors_of(sources_of(kShort + "payment_check: {unknown: hold}\n")),
              HasSubstr("payment_check.url: is required"));
  EXPECT_THAT(errors_of(sources_of(kShort + "payment_check: {url: x, unknown: maybe}\n")),
              HasSubstr("payment_check.unknown: found \"maybe\""));
}

TEST(PaymentCheckConfig, RefusesALineThatAsksNobody) {
  const std::string errors =
      errors_of(sources_of(kShort + "business_lines: {default: {payment_check: true}, a: {}}\n"));
  EXPECT_EQ(
      errors,
      "x.yaml:5:43: business_lines.default.payment_check: there is no section payment_check to ask "
      "by\n");
}

}  // namespace
}  // namespace order_timeout
