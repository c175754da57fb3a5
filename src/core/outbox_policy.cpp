#include "order_timeout/outbox_policy.hpp"

#include <algorithm>

namespace order_timeout {
namespace {

bool delivered(DeliveryKind kind) {
  return kind == DeliveryKind::done || kind == DeliveryKind::already_done;
}

bool spends_an_attempt(const DeliveryOutcome& outcome) {
  if (outcome.kind == DeliveryKind::throttled) return false;
  if (outcome.kind == DeliveryKind::unhealthy) return false;
  return outcome.attempt_spent;
}

std::string error_of(const DeliveryOutcome& outcome) {
  const std::string kind{to_string(outcome.kind)};
  return outcome.detail.empty() ? kind : kind + ": " + outcome.detail;
}

}  // namespace

OutboxPolicy::OutboxPolicy(const OutboxConfig& config)
    : backoff_(config.backoff), max_attempts_(config.max_attempts) {}

NextStep OutboxPolicy::next(const OutboxEvent& event, const DeliveryOutcome& outcome,
                            double random) const {
  if (delivered(outcome.kind)) return {.status = EventStatus::success, .last_error = {}};

  const bool spent = spends_an_attempt(outcome);
  NextStep step{.attempt_spent = spent, .last_error = error_of(outcome)};
  const bool last_try = event.attempt >= max_attempts_ || outcome.kind == DeliveryKind::rejected;
  if (spent && last_try) {
    step.status = EventStatus::dead;
    return step;
  }
  const bool may_have_happened = outcome.kind == DeliveryKind::uncertain || event.uncertain;
  step.status = may_have_happened ? EventStatus::uncertain : EventStatus::pending;
  step.wait = wait(event, outcome, random);
  return step;
}

Duration OutboxPolicy::wait(const OutboxEvent& event, const DeliveryOutcome& outcome,
                            double random) const {
  Duration wait = backoff_.wait(event.attempt, random);
  if (outcome.kind == DeliveryKind::unhealthy) wait = std::max(wait, kUnhealthyWait);
  if (outcome.retry_after)
    wait = std::max(wait, std::min(*outcome.retry_after, kLongestRetryAfter));
  return wait;
}

}  // namespace order_timeout
