#include "order_timeout/payment_policy.hpp"

#include <algorithm>

namespace order_timeout {
namespace {

using Action = PaymentStep::Action;

bool is_one_of(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

// A word that stands in two lists counts as the one that closes less.
PaymentAnswer PaymentPolicy::understand(const std::optional<std::string>& word) const {
  if (!word) return PaymentAnswer::unknown;
  if (is_one_of(config_.paid, *word)) return PaymentAnswer::paid;
  if (is_one_of(config_.in_progress, *word)) return PaymentAnswer::in_progress;
  if (is_one_of(config_.none, *word)) return PaymentAnswer::none;
  return PaymentAnswer::unknown;
}

PaymentStep PaymentPolicy::next(PaymentAnswer answer, Duration overdue, int unknown_before) const {
  const Duration left = config_.max_delay - overdue;
  switch (answer) {
    case PaymentAnswer::none:
      return {.action = Action::close};
    case PaymentAnswer::paid:
      return {.action = Action::hold, .alert = true, .outcome = CloseOutcome::payment_evidence};
    case PaymentAnswer::in_progress:
      if (left <= Duration{0}) {
        return {.action = Action::hold, .alert = true, .outcome = CloseOutcome::held};
      }
      return {.action = Action::ask_again,
              .wait = std::min(config_.retry_after, left),
              .outcome = CloseOutcome::payment_in_progress};
    case PaymentAnswer::unknown:
      break;
  }
  return after_unknown(overdue, unknown_before);
}

PaymentStep PaymentPolicy::after_unknown(Duration overdue, int unknown_before) const {
  switch (config_.unknown) {
    case UnknownPayment::close:
      return {.action = Action::close};
    case UnknownPayment::hold:
      return {.action = Action::hold, .alert = true, .outcome = CloseOutcome::payment_unknown};
    case UnknownPayment::defer:
      break;
  }
  const Duration doubled = config_.retry_after * (1 << std::clamp(unknown_before, 0, 10));
  const Duration longest = std::max(config_.retry_after, kLongestWait);
  return {.action = Action::ask_again,
          .wait = std::min(doubled, longest),
          .alert = overdue >= config_.max_delay,
          .outcome = CloseOutcome::payment_unknown};
}

}  // namespace order_timeout
