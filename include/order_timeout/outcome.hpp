// How things end: what became of a close, of a delivery, of a call to something outside. Expected
// answers are outcomes, everything else is a Failure; neither is an exception.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "order_timeout/order.hpp"
#include "order_timeout/time.hpp"

namespace order_timeout {

// What close_orders() says of one order: the same words in SQL, code, audit log and metrics.
enum class CloseOutcome : std::uint8_t {
  closed,
  already_paid,
  already_closed,
  other_status,
  not_due,
  locked,
  version_moved,
  held,
  payment_evidence,
  payment_in_progress,
  payment_unknown,
  reopened,
  missing,
  for_review,
  shadowed,
  ignored,
  not_listed,
  too_old,
  paused,
  failed,
};

std::string_view to_string(CloseOutcome outcome);
std::string_view to_string(Source source);
// Nothing for a word that is none of ours.
std::optional<CloseOutcome> parse_close_outcome(std::string_view word);

// One order's answer from a close transaction.
struct CloseResult {
  OrderId id = 0;
  CloseOutcome outcome = CloseOutcome::failed;
  Version version = 0;   // the row's version as judged (after the close: the new one)
  std::string order_no;  // empty where the order is missing
  std::string business_line;
  std::optional<Instant> due;  // deadline + grace by the database; nothing where no rule applies
  std::optional<Instant> retry_at;  // when the database would judge it differently, where it knows
  std::string detail;               // evidence, hold reason, deadline's origin: for the audit log
};

// Why a call failed, by what is to be done about it (DESIGN: one policy each).
enum class FailureKind : std::uint8_t {
  unavailable,  // refused, broken, read-only, shutting down: the component is down, back off
  timed_out,    // a deadline passed: as unavailable, and smaller batches after repeats
  conflict,     // deadlock, serialization failure, lock not available: the same again soon
  unknown,      // the answer got lost and it may have happened: the same compare-and-set again
  rejected,     // bad statement, missing right, constraint: isolate what caused it, do not loop
  overloaded,   // a bound of our own was hit
};

std::string_view to_string(FailureKind kind);

struct Failure {
  FailureKind kind = FailureKind::rejected;
  std::string detail;    // for the log, free of secrets
  std::string sqlstate;  // five characters where PostgreSQL answered, else empty
};

// For a call that gives nothing back but may fail: Result<Done>.
struct Done {};

// A value or a Failure. Access is checked by the standard library's variant.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Failure failure)
      : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT: implicit on purpose

  explicit operator bool() const { return state_.index() == 0; }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Failure& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Failure> state_;
};

// What became of one attempt to deliver an event.
enum class DeliveryKind : std::uint8_t {
  done,          // the effect happened now
  already_done,  // the sink had done it before
  retry,         // certainly not done: send again later
  throttled,     // the sink asks us to wait
  uncertain,     // may have had its effect: the same key again
  rejected,      // the sink will never take this event: DEAD at once
  unhealthy,     // the sink refuses us (401, 403): no event is spent
};

std::string_view to_string(DeliveryKind kind);

struct DeliveryOutcome {
  DeliveryKind kind = DeliveryKind::retry;
  bool attempt_spent = true;            // false where nothing was sent, or CONTRACT says so
  std::optional<Duration> retry_after;  // what the sink asked for, not yet bounded
  std::string detail;                   // code or cause, bounded, free of secrets
  bool recorded = false;  // the sink wrote SUCCESS itself, in the transaction of the effect
};

// Where an outbox event stands, as its row says.
enum class EventStatus : std::uint8_t { pending, uncertain, success, dead };

}  // namespace order_timeout
