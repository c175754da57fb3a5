// What the payment gateway's word means for an order that is due: close it, ask again, or hold it
// for a person. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "order_timeout/config.hpp"
#include "order_timeout/outcome.hpp"
#include "order_timeout/time.hpp"

namespace order_timeout {

// Whatever is none of the configured words, or no answer at all, is unknown: it never means none.
enum class PaymentAnswer : std::uint8_t { none, in_progress, paid, unknown };

struct PaymentStep {
  enum class Action : std::uint8_t { close, ask_again, hold };
  Action action = Action::ask_again;
  Duration wait{0};    // until the next question, for ask_again
  bool alert = false;  // it takes longer than payment_check.max_delay: a person should know
  CloseOutcome outcome = CloseOutcome::payment_unknown;  // the reason code, unless it is closed
};

class PaymentPolicy {
 public:
  static constexpr Duration kLongestWait{60'000};  // between questions that get no clear answer

  explicit PaymentPolicy(PaymentCheckConfig config) : config_(std::move(config)) {}

  // The gateway's word as it stands in its answer; nothing where it gave none. Exact match only.
  PaymentAnswer understand(const std::optional<std::string>& word) const;
  // `overdue` counts from deadline + grace; `unknown_before` are the unknown answers in a row
  // before this one.
  PaymentStep next(PaymentAnswer answer, Duration overdue, int unknown_before) const;

 private:
  PaymentStep after_unknown(Duration overdue, int unknown_before) const;

  PaymentCheckConfig config_;
};

}  // namespace order_timeout
