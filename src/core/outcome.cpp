#include "order_timeout/outcome.hpp"

#include <algorithm>
#include <array>

namespace order_timeout {
namespace {

// In the order of CloseOutcome.
constexpr std::array<std::string_view, 20> kCloseOutcomes{
    "closed",          "already_paid",  "already_closed", "other_status",     "not_due",
    "locked",          "version_moved", "held",           "payment_evidence", "payment_in_progress",
    "payment_unknown", "reopened",      "missing",        "for_review",       "shadowed",
    "ignored",         "not_listed",    "too_old",        "paused",           "failed"};
static_assert(static_cast<std::size_t>(CloseOutcome::failed) + 1 == kCloseOutcomes.size());

constexpr std::array<std::string_view, 6> kSources{"wheel",   "redis",  "catch_up",
                                                   "nightly", "manual", "startup"};
constexpr std::array<std::string_view, 6> kFailureKinds{"unavailable", "timed_out", "conflict",
                                                        "unknown",     "rejected",  "overloaded"};
constexpr std::array<std::string_view, 7> kDeliveryKinds{
    "done", "already_done", "retry", "throttled", "uncertain", "rejected", "unhealthy"};

}  // namespace

std::string_view to_string(CloseOutcome outcome) {
  return kCloseOutcomes.at(static_cast<std::size_t>(outcome));
}

std::string_view to_string(Source source) { return kSources.at(static_cast<std::size_t>(source)); }

std::string_view to_string(FailureKind kind) {
  return kFailureKinds.at(static_cast<std::size_t>(kind));
}

std::string_view to_string(DeliveryKind kind) {
  return kDeliveryKinds.at(static_cast<std::size_t>(kind));
}

std::optional<CloseOutcome> parse_close_outcome(std::string_view word) {
  const auto* const found = std::find(kCloseOutcomes.begin(), kCloseOutcomes.end(), word);
  if (found == kCloseOutcomes.end()) return std::nullopt;
  return static_cast<CloseOutcome>(found - kCloseOutcomes.begin());
}

}  // namespace order_timeout
