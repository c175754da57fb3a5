// Proves CONTRACT's rules on what becomes of an event, one row a rule: which outcomes finish it,
// which spend an attempt, when it is dead, how long it waits.
#include "order_timeout/outbox_policy.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <ostream>
#include <string>

namespace order_timeout {
namespace {

using namespace std::chrono_literals;

OutboxPolicy policy() {
  OutboxConfig config;
  config.backoff = {2s, 20s, 4h};
  config.max_attempts = 3;
  return OutboxPolicy{config};
}

// With a random number of 0 a wait is half of its step.
NextStep next(const OutboxEvent& event, const DeliveryOutcome& outcome) {
  return policy().next(event, outcome, 0.0);
}

struct Row {
  std::string name;
  DeliveryKind kind;
  bool sent = true;  // DeliveryOutcome::attempt_spent
  std::optional<Duration> retry_after;
  int attempt = 1;
  bool uncertain_before = false;
  // expected
  EventStatus status;
  bool spent;
  Duration wait;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class OutboxPolicyRow : public ::testing::TestWithParam<Row> {};

TEST_P(OutboxPolicyRow, Holds) {
  const Row& row = GetParam();
  OutboxEvent event;
  event.attempt = row.attempt;
  event.uncertain = row.uncertain_before;
  DeliveryOutcome outcome;
  outcome.kind = row.kind;
  outcome.attempt_spent = row.sent;
  outcome.retry_after = row.retry_after;
  outcome.detail = "503";
  const NextStep step = next(event, outcome);
  EXPECT_EQ(step.status, row.status);
  EXPECT_EQ(step.attempt_spent, row.spent);
  EXPECT_EQ(step.wait, row.wait);
  EXPECT_EQ(step.last_error.empty(), row.status == EventStatus::success);
}

using K = DeliveryKind;
using S = EventStatus;

// In the order of Row's members: name, kind, sent, retry_after, attempt, uncertain before, status,
// spent, wait.
INSTANTIATE_TEST_SUITE_P(
    Rules, OutboxPolicyRow,
    ::testing::Values(
        Row{"DoneIsSuccess", K::done, true, {}, 1, false, S::success, true, 0s},
        Row{"DoneAtTheLastTryIsSuccess", K::done, true, {}, 3, false, S::success, true, 0s},
        Row{"DoneAfterUncertainIsSuccess", K::done, true, {}, 2, true, S::success, true, 0s},
        Row{"AlreadyDoneIsSuccess", K::already_done, true, {}, 1, false, S::success, true, 0s},
        Row{"RejectedIsDeadAtOnce", K::rejected, true, {}, 1, false, S::dead, true, 0s},
        Row{"RejectedUnsentIsNotDead", K::rejected, false, {}, 1, false, S::pending, false, 1s},
        Row{"RetryWaitsTheFirstStep", K::retry, true, {}, 1, false, S::pending, true, 1s},
        Row{"RetryWaitsTheSecondStep", K::retry, true, {}, 2, false, S::pending, true, 10s},
        Row{"RetryAtTheLastTryIsDead", K::retry, true, {}, 3, false, S::dead, true, 0s},
        Row{"RetryBeyondTheLastTryIsDead", K::retry, true, {}, 9, false, S::dead, true, 0s},
        Row{"UnsentAtTheLastTryIsNotDead", K::retry, false, {}, 3, false, S::pending, false, 2h},
        Row{"UnsentForEverIsNotDead", K::retry, false, {}, 99, false, S::pending, false, 2h},
        Row{"RetryAfterIsHonoured", K::retry, false, 90s, 1, false, S::pending, false, 90s},
        Row{"RetryLeavesUncertainUncertain", K::retry, true, {}, 2, true, S::uncertain, true, 10s},
        Row{"UncertainIsUncertain", K::uncertain, true, {}, 1, false, S::uncertain, true, 1s},
        Row{"UncertainAtTheLastTryIsDead", K::uncertain, true, {}, 3, false, S::dead, true, 0s},
        Row{"UncertainUnspentIsNotDead", K::uncertain, false, {}, 3, true, S::uncertain, false, 2h},
        Row{"ThrottledWaitsAsAsked", K::throttled, true, 30s, 1, false, S::pending, false, 30s},
        Row{"ThrottledWaitsAtLeastTheStep", K::throttled, true, 0s, 2, false, S::pending, false,
            10s},
        Row{"ThrottledTakesNoNegativeWait", K::throttled, true, -1h, 2, false, S::pending, false,
            10s},
        Row{"ThrottledWaitsAtMostAnHour", K::throttled, true, Duration::max(), 1, false, S::pending,
            false, 1h},
        Row{"ThrottledButTheStepIsLonger", K::throttled, true, 5h, 3, false, S::pending, false, 2h},
        Row{"ThrottledWithoutAWish", K::throttled, true, {}, 1, false, S::pending, false, 1s},
        Row{"ThrottledIsNeverDead", K::throttled, true, {}, 9, false, S::pending, false, 2h},
        Row{"UnhealthyWaitsFiveSeconds", K::unhealthy, true, {}, 1, false, S::pending, false, 5s},
        Row{"UnhealthyWaitsALongerStep", K::unhealthy, true, {}, 2, false, S::pending, false, 10s},
        Row{"UnhealthyIsNeverDead", K::unhealthy, true, {}, 9, true, S::uncertain, false, 2h}),
    [](const auto& row) { return row.param.name; });

TEST(OutboxPolicy, ReachesDeadAfterExactlyMaxAttemptsRealCalls) {
  DeliveryOutcome lost;
  lost.kind = DeliveryKind::retry;
  OutboxEvent event;
  int calls = 1;
  while (next(event, lost).status != EventStatus::dead) {
    ++event.attempt;
    ++calls;
  }
  EXPECT_EQ(calls, 3);
}

TEST(OutboxPolicy, SaysWhatWentWrong) {
  DeliveryOutcome outcome;
  outcome.kind = DeliveryKind::uncertain;
  outcome.detail = "read timed out";
  EXPECT_EQ(next(OutboxEvent{}, outcome).last_error, "uncertain: read timed out");
  outcome.detail.clear();
  EXPECT_EQ(next(OutboxEvent{}, outcome).last_error, "uncertain");
}

TEST(OutboxPolicy, SpreadsWhatFailedTogether) {
  DeliveryOutcome outcome;
  EXPECT_EQ(policy().next(OutboxEvent{}, outcome, 0.0).wait, 1s);
  EXPECT_EQ(policy().next(OutboxEvent{}, outcome, 0.75).wait, 1'750ms);
}

}  // namespace
}  // namespace order_timeout
