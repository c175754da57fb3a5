// Orders and answers for stories about the close engine, and a closer that tells which orders are
// bad.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "order_timeout/close_engine.hpp"

namespace order_timeout::engine_story {

using namespace std::chrono_literals;

inline constexpr Instant kStart = instant_from_ms(1'800'000'000'000);

inline TrackedOrder order(OrderId id, Instant due) { return {.id = id, .due = due, .version = 1}; }

inline CloseResult result(OrderId id, CloseOutcome outcome) {
  CloseResult answer;
  answer.id = id;
  answer.outcome = outcome;
  answer.version = 2;
  return answer;
}

inline std::vector<OrderId> ids(const DueBatch& batch) {
  std::vector<OrderId> all;
  for (const TrackedOrder& one : batch.orders) all.push_back(one.id);
  return all;
}

inline Failure rejected(const std::string& sqlstate) {
  return {FailureKind::rejected, "trigger raised", sqlstate};
}

// Closes every batch in which no order is bad; gives what was quarantined and how many calls it
// took.
struct Drained {
  std::vector<OrderId> quarantined;
  std::vector<OrderId> closed;
  bool broken = false;
  int calls = 0;
};

template <class IsBad>
Drained drain(CloseEngine& engine, Instant now, const IsBad& is_bad) {
  Drained drained;
  while (auto batch = engine.next_batch(now)) {
    drained.calls += 1;
    bool bad = false;
    std::vector<CloseResult> answers;
    for (const TrackedOrder& one : batch->orders) {
      bad = bad || is_bad(one.id);
      answers.push_back(result(one.id, CloseOutcome::closed));
    }
    const auto all = ids(*batch);
    const auto verdict = bad ? engine.fail(std::move(*batch), rejected("P0001"), now)
                             : engine.settle(*batch, answers, now);
    if (!bad) drained.closed.insert(drained.closed.end(), all.begin(), all.end());
    for (const auto& suspect : verdict.quarantine) drained.quarantined.push_back(suspect.order.id);
    drained.broken = drained.broken || verdict.broken;
  }
  return drained;
}

}  // namespace order_timeout::engine_story
