#include "order_timeout/close_engine.hpp"

#include <algorithm>
#include <utility>

namespace order_timeout {
namespace {

using namespace std::chrono_literals;

// This many orders failing alone and alike, with none closing in between, are no bad orders but a
// broken database.
constexpr std::size_t kAlikeMeansBroken = 8;
constexpr Duration kProbeInterval = 5s;
constexpr int kConflictsBeforeHalving = 3;

// Somebody holds the row: most likely a payment, done in milliseconds; a frozen session may hold it
// for minutes.
constexpr Duration kLockedFirst = 20ms;
constexpr Duration kLockedCap = 1s;
// The database's clock is behind ours although it should not be.
constexpr Duration kNotDueFirst = 2ms;
constexpr Duration kNotDueCap = 1s;
// An order that failed alone and waits for a sign that the database is well.
constexpr Duration kSuspectFirst = 1s;
constexpr Duration kSuspectCap = 60s;

}  // namespace

CloseEngine::CloseEngine(const Options& options, Instant now)
    : options_(options),
      wheel_(now),
      limiter_(options.max_per_second),
      batch_limit_(options.batch_size) {}

void CloseEngine::reconfigure(const Options& options) {
  options_ = options;
  limiter_ = RateLimiter(options.max_per_second);
  batch_limit_ = options.batch_size;
}

bool CloseEngine::track(const TrackedOrder& order) {
  if (in_flight_.contains(order.id)) return false;
  if (order.due == kNever) {
    forget(order.id);
    return false;
  }
  TrackedOrder tracked = order;
  const auto held = wheel_.find(order.id);
  if (held) tracked.source = held->source;  // who found it first
  const auto wait = waits_.find(order.id);
  if (wait != waits_.end()) tracked.due = std::max(tracked.due, wait->second.until);
  if (held && *held == tracked) return false;
  wheel_.schedule(tracked);
  return !held;
}

void CloseEngine::delay(OrderId id, Instant until) {
  Wait& wait = waits_[id];
  wait.until = std::max(wait.until, until);
  const auto held = wheel_.find(id);
  if (held && held->due < wait.until) try_again(*held, wait.until);
}

void CloseEngine::retry_at(OrderId id, Instant at) {
  const auto held = wheel_.find(id);
  if (!held) return;
  waits_[id].until = at;
  try_again(*held, at);
}

void CloseEngine::untrack(OrderId id) { forget(id); }

std::optional<DueBatch> CloseEngine::next_batch(Instant now) {
  if (broken_ && now < next_probe_) return std::nullopt;
  if (!broken_ && !retries_.empty() && retries_.front().at <= now) {
    DueBatch batch = std::move(retries_.front().batch);
    retries_.pop_front();
    return batch;
  }
  const std::size_t wanted = broken_ ? 1 : batch_limit_;
  if (broken_) next_probe_ = now + kProbeInterval;
  const auto next = wheel_.next_due();
  if (!next || *next > now) return std::nullopt;
  const std::size_t allowed = limiter_.allowance(now, wanted);
  DueBatch batch;
  batch.orders = wheel_.advance(now, {.orders = allowed});
  limiter_.give_back(allowed - batch.orders.size());
  return take(std::move(batch));
}

std::optional<DueBatch> CloseEngine::take(DueBatch batch) {
  if (batch.orders.empty()) return std::nullopt;
  for (const TrackedOrder& order : batch.orders) in_flight_.emplace(order.id, order);
  return batch;
}

void CloseEngine::postpone(DueBatch& batch, const std::unordered_map<OrderId, Instant>& until) {
  const auto waits = [&](const TrackedOrder& order) {
    const auto found = until.find(order.id);
    if (found == until.end()) return false;
    in_flight_.erase(order.id);
    waits_[order.id].until = found->second;
    try_again(order, found->second);
    return true;
  };
  std::erase_if(batch.orders, waits);
}

CloseEngine::Verdict CloseEngine::settle(const DueBatch& batch,
                                         std::span<const CloseResult> results, Instant now) {
  Verdict verdict;
  std::unordered_map<OrderId, const TrackedOrder*> asked;
  for (const TrackedOrder& order : batch.orders) asked.emplace(order.id, &order);
  bool any_closed = false;
  for (const CloseResult& result : results) {
    const auto order = asked.find(result.id);
    if (order == asked.end()) continue;
    any_closed = any_closed || result.outcome == CloseOutcome::closed;
    suspects_.erase(result.id);  // whatever the answer, it is no failure
    settle_one(*order->second, result, now, verdict);
    asked.erase(order);
  }
  for (const auto& [id, order] : asked) {  // no answer for an order is not an answer
    in_flight_.erase(id);
    try_again(*order, after_backoff(id, now, kLockedFirst, kLockedCap));
  }
  if (any_closed) {
    verdict.mended = std::exchange(broken_, false);
    try_suspects_alone();
  } else if (broken_) {
    next_probe_ = now;  // an order that was paid meanwhile proves nothing: the next one
  }
  batch_limit_ = std::min(options_.batch_size, batch_limit_ + 1 + batch_limit_ / 4);
  return verdict;
}

// The database is well, so whoever fails alone from here on does so by itself. They may have failed
// in a moment when it was not: each gets one more try, by itself.
void CloseEngine::try_suspects_alone() {
  for (auto& [id, suspect] : suspects_) {
    if (suspect.database_was_well) continue;
    suspect.database_was_well = true;
    if (!wheel_.cancel(id)) continue;
    in_flight_.emplace(id, suspect.order);
    DueBatch alone;
    alone.orders.push_back(suspect.order);
    retries_.push_back({std::move(alone), kAlways});
  }
}

void CloseEngine::settle_one(const TrackedOrder& order, const CloseResult& result, Instant now,
                             Verdict& verdict) {
  in_flight_.erase(order.id);
  TrackedOrder again = order;
  again.version = result.version;
  switch (result.outcome) {
    case CloseOutcome::not_due: {
      const Instant due = result.due.value_or(kNever);
      again.due = due;
      if (due == kNever) return forget(order.id);
      if (due > now) return try_again(again, due);
      return try_again(again, after_backoff(order.id, now, kNotDueFirst, kNotDueCap));
    }
    case CloseOutcome::locked:
      again.version = order.version;  // judged without the row's lock: it may be about to change
      return try_again(again, after_backoff(order.id, now, kLockedFirst, kLockedCap));
    case CloseOutcome::version_moved:
      return try_again(again, after_backoff(order.id, now, kNotDueFirst, kNotDueCap));
    case CloseOutcome::paused:
    case CloseOutcome::payment_in_progress:
    case CloseOutcome::payment_unknown:
      return try_again(again, std::max(result.retry_at.value_or(now), now + 1s));
    case CloseOutcome::failed:
      if (result.retry_at) return try_again(again, std::max(*result.retry_at, now + 1s));
      verdict.quarantine.push_back(
          {order, Failure{FailureKind::rejected, "close without effect: " + result.detail, ""}});
      return forget(order.id);
    default:  // closed, or not ours to close: whatever changes that brings it back through a scan
      return forget(order.id);
  }
}

CloseEngine::Verdict CloseEngine::fail(DueBatch batch, const Failure& failure, Instant now) {
  Verdict verdict;
  const bool alone = batch.orders.size() == 1;
  verdict.back_off = failure.kind != FailureKind::conflict && failure.kind != FailureKind::rejected;
  if (failure.kind == FailureKind::timed_out) {
    batch_limit_ = std::max<std::size_t>(1, std::min(batch_limit_, batch.orders.size()) / 2);
  }
  if (failure.kind == FailureKind::unavailable || failure.kind == FailureKind::overloaded ||
      (broken_ && !alone)) {
    give_back(batch);
    return verdict;
  }
  if (failure.kind == FailureKind::conflict && !alone) {
    batch.conflicts += 1;
    if (batch.conflicts <= kConflictsBeforeHalving) {
      const Duration wait = kLockedFirst * batch.conflicts;
      retries_.push_back({std::move(batch), now + wait});
      return verdict;
    }
  }
  if (!alone) {  // one of them may be at fault, and the others are not to wait for it
    halve(std::move(batch));
    return verdict;
  }
  const TrackedOrder& order = batch.orders.front();
  if (failure.kind == FailureKind::rejected) {
    suspect(order, failure, now, verdict);
    return verdict;
  }
  in_flight_.erase(order.id);
  const bool slow = failure.kind == FailureKind::timed_out;
  try_again(order, slow ? after_backoff(order.id, now, kSuspectFirst, kSuspectCap)
                        : after_backoff(order.id, now, kLockedFirst, kLockedCap));
  return verdict;
}

void CloseEngine::halve(DueBatch batch) {
  const auto middle = batch.orders.begin() + static_cast<std::ptrdiff_t>(batch.orders.size() / 2);
  DueBatch second;
  second.conflicts = batch.conflicts;
  second.orders.assign(middle, batch.orders.end());
  batch.orders.erase(middle, batch.orders.end());
  retries_.push_front({std::move(second), kAlways});
  retries_.push_front({std::move(batch), kAlways});
}

void CloseEngine::suspect(const TrackedOrder& order, const Failure& failure, Instant now,
                          Verdict& verdict) {
  in_flight_.erase(order.id);
  const auto known = suspects_.find(order.id);
  if (known != suspects_.end() && known->second.database_was_well) {
    verdict.quarantine.push_back({order, failure});
    suspects_.erase(known);
    return forget(order.id);
  }
  try_again(order, after_backoff(order.id, now, kSuspectFirst, kSuspectCap));
  if (broken_) return;  // a probe that failed says nothing of its order
  suspects_.insert_or_assign(order.id, Doubt{order, failure.sqlstate, false});
  const auto alike = [&](const auto& entry) { return entry.second.sqlstate == failure.sqlstate; };
  const auto count = std::count_if(suspects_.begin(), suspects_.end(), alike);
  if (static_cast<std::size_t>(count) >= kAlikeMeansBroken) stop_closing(now, verdict);
}

// Nothing is quarantined: it is not these orders' fault. They stay in the wheel, and single ones
// are tried until one closes.
void CloseEngine::stop_closing(Instant now, Verdict& verdict) {
  broken_ = true;
  next_probe_ = now + kProbeInterval;
  verdict.broken = true;
  suspects_.clear();
  for (const Retry& retry : retries_) give_back(retry.batch);
  retries_.clear();
}

void CloseEngine::give_back(const DueBatch& batch) {
  for (const TrackedOrder& order : batch.orders) {
    in_flight_.erase(order.id);
    wheel_.schedule(order);
  }
}

std::optional<Instant> CloseEngine::next_due(Instant now) const {
  std::optional<Instant> next = wheel_.next_due();
  if (next && *next <= now) next = std::max(*next, limiter_.next_at(now));
  if (!broken_ && !retries_.empty()) {
    const Instant retry = retries_.front().at;
    next = next ? std::min(*next, retry) : retry;
  }
  if (broken_ && next) next = std::max(*next, next_probe_);
  return next;
}

void CloseEngine::forget(OrderId id) {
  in_flight_.erase(id);
  waits_.erase(id);
  wheel_.cancel(id);
}

void CloseEngine::try_again(TrackedOrder order, Instant at) {
  order.due = at;
  wheel_.schedule(order);
}

Instant CloseEngine::after_backoff(OrderId id, Instant now, Duration first, Duration cap) {
  Wait& wait = waits_[id];
  const int doublings = std::min(wait.tries, 20);
  wait.tries += 1;
  const Duration step = std::min(cap, first * (1 << doublings));
  wait.until = now + step;
  return wait.until;
}

std::size_t CloseEngine::memory_bytes() const {
  constexpr std::size_t kMapNode = 64;  // a rough figure for one node of an unordered map
  return wheel_.memory_bytes() + (in_flight_.size() + waits_.size()) * kMapNode;
}

}  // namespace order_timeout
