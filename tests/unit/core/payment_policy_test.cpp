// Proves the table by which the gateway's answers close, defer or hold an order, a test a row, and
// that nothing but a configured word ever means "no payment".
#include "order_timeout/payment_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace order_timeout {
namespace {

using namespace std::chrono_literals;
using Action = PaymentStep::Action;

PaymentCheckConfig config(UnknownPayment unknown = UnknownPayment::defer) {
  PaymentCheckConfig config;
  config.url = "http://127.0.0.1/{order_no}";
  config.none = {"NONE", "FAILED"};
  config.in_progress = {"PAYING"};
  config.paid = {"PAID"};
  config.retry_after = 5s;
  config.max_delay = 10min;
  config.unknown = unknown;
  return config;
}

PaymentStep next(PaymentAnswer answer, Duration overdue = 0s, int unknown_before = 0,
                 UnknownPayment unknown = UnknownPayment::defer) {
  return PaymentPolicy{config(unknown)}.next(answer, overdue, unknown_before);
}

TEST(PaymentPolicy, UnderstandsTheConfiguredWordsAndNoOthers) {
  const PaymentPolicy policy{config()};
  EXPECT_EQ(policy.understand("NONE"), PaymentAnswer::none);
  EXPECT_EQ(policy.understand("FAILED"), PaymentAnswer::none);
  EXPECT_EQ(policy.understand("PAYING"), PaymentAnswer::in_progress);
  EXPECT_EQ(policy.understand("PAID"), PaymentAnswer::paid);
  for (const char* word : {"", "none", "NONE ", "NO", "UNPAID", "null", "PAIDX"}) {
    EXPECT_EQ(policy.understand(word), PaymentAnswer::unknown) << word;
  }
  EXPECT_EQ(policy.understand(std::nullopt), PaymentAnswer::unknown);
}

TEST(PaymentPolicy, AWordInTwoListsClosesLess) {
  PaymentCheckConfig both = config();
  both.none = {"PAYING", "PAID"};
  EXPECT_EQ(PaymentPolicy{both}.understand("PAYING"), PaymentAnswer::in_progress);
  EXPECT_EQ(PaymentPolicy{both}.understand("PAID"), PaymentAnswer::paid);
}

TEST(PaymentPolicy, NoneCloses) {
  EXPECT_EQ(next(PaymentAnswer::none).action, Action::close);
  EXPECT_EQ(next(PaymentAnswer::none, 24h).action, Action::close);
}

TEST(PaymentPolicy, PaidHoldsAtOnceAndLoudly) {
  const PaymentStep step = next(PaymentAnswer::paid);
  EXPECT_EQ(step.action, Action::hold);
  EXPECT_EQ(step.outcome, CloseOutcome::payment_evidence);
  EXPECT_TRUE(step.alert);
}

TEST(PaymentPolicy, InProgressIsAskedAgainAfterRetryAfter) {
  const PaymentStep step = next(PaymentAnswer::in_progress, 1s);
  EXPECT_EQ(step.action, Action::ask_again);
  EXPECT_EQ(step.wait, 5s);
  EXPECT_EQ(step.outcome, CloseOutcome::payment_in_progress);
  EXPECT_FALSE(step.alert);
}

TEST(PaymentPolicy, InProgressIsAskedOnceMoreAtMaxDelayAndThenHeld) {
  EXPECT_EQ(next(PaymentAnswer::in_progress, 10min - 2s).wait, 2s);
  const PaymentStep step = next(PaymentAnswer::in_progress, 10min);
  EXPECT_EQ(step.action, Action::hold);
  EXPECT_EQ(step.outcome, CloseOutcome::held);
  EXPECT_TRUE(step.alert);
}

TEST(PaymentPolicy, UnknownIsAskedAgainWithGrowingWaits) {
  EXPECT_EQ(next(PaymentAnswer::unknown, 0s, 0).wait, 5s);
  EXPECT_EQ(next(PaymentAnswer::unknown, 0s, 1).wait, 10s);
  EXPECT_EQ(next(PaymentAnswer::unknown, 0s, 3).wait, 40s);
  EXPECT_EQ(next(PaymentAnswer::unknown, 0s, 4).wait, 60s);
  EXPECT_EQ(next(PaymentAnswer::unknown, 0s, 1'000'000).wait, 60s);
}

TEST(PaymentPolicy, UnknownIsNeverGivenUpAndAlertsAfterMaxDelay) {
  EXPECT_FALSE(next(PaymentAnswer::unknown, 10min - 1ms).alert);
  const PaymentStep step = next(PaymentAnswer::unknown, 240h, 50);
  EXPECT_EQ(step.action, Action::ask_again);
  EXPECT_EQ(step.outcome, CloseOutcome::payment_unknown);
  EXPECT_TRUE(step.alert);
}

TEST(PaymentPolicy, UnknownHoldsOrClosesWhereConfigured) {
  const PaymentStep step = next(PaymentAnswer::unknown, 0s, 0, UnknownPayment::hold);
  EXPECT_EQ(step.action, Action::hold);
  EXPECT_EQ(step.outcome, CloseOutcome::payment_unknown);
  EXPECT_EQ(next(PaymentAnswer::unknown, 0s, 0, UnknownPayment::close).action, Action::close);
}

TEST(PaymentPolicy, ALongRetryAfterIsKept) {
  PaymentCheckConfig slow = config();
  slow.retry_after = 5min;
  EXPECT_EQ(PaymentPolicy{slow}.next(PaymentAnswer::unknown, 0s, 9).wait, 5min);
}

}  // namespace
}  // namespace order_timeout
