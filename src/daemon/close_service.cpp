#include "daemon/close_service.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "order_timeout/deadline_policy.hpp"

namespace order_timeout::daemon {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongestNap = 1000ms;  // so that nothing depends on a bell that was not rung
constexpr auto kFirstBackoff = 100ms;
constexpr auto kLongestBackoff = 2000ms;  // closing goes on within 5 s of the database's return

bool is_final(CloseOutcome outcome) {
  switch (outcome) {
    case CloseOutcome::closed:
    case CloseOutcome::already_paid:
    case CloseOutcome::already_closed:
    case CloseOutcome::missing:
      return true;
    default:
      return false;
  }
}

// Somebody paid and the status does not say so, or a closed order is pending again.
bool needs_a_person(CloseOutcome outcome) {
  return outcome == CloseOutcome::payment_evidence || outcome == CloseOutcome::reopened;
}

}  // namespace

boost::asio::awaitable<void> CloseService::run_lane() {
  while (!c_.stop.requested()) {
    std::optional<DueBatch> due;
    if (c_.figures.mapping_fits) due = c_.engine.next_batch(c_.clock.now());
    if (!due) {
      co_await c_.due.wait(until_next());
      continue;
    }
    Reread reread = co_await ready_to_close(std::move(*due));
    if (reread.failure) {
      Failure failure = std::move(*reread.failure);
      co_await take_back(std::move(reread.batch), std::move(failure));
      continue;
    }
    if (reread.batch.orders.empty()) continue;

    const auto started = std::chrono::steady_clock::now();
    Result<std::vector<CloseResult>> closed = co_await c_.orders.close_due(reread.batch);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;

    if (!closed) {
      Failure failure = closed.error();
      co_await take_back(std::move(reread.batch), std::move(failure));
      continue;
    }
    failures_in_a_row_ = 0;
    c_.components.up(kPostgres);
    c_.metrics.close_batch(took.count());
    record(reread.batch, *closed);
    remember_settled(reread.reminders, *closed);
    CloseEngine::Verdict verdict = c_.engine.settle(reread.batch, *closed, c_.clock.now());
    Failure none;
    co_await act_on(std::move(verdict), std::move(none));
  }
}

boost::asio::awaitable<void> CloseService::take_back(DueBatch batch, Failure failure) {
  report_failure(batch, failure);
  CloseEngine::Verdict verdict = c_.engine.fail(std::move(batch), failure, c_.clock.now());
  co_await act_on(std::move(verdict), std::move(failure));
}

// Without those that are to wait: for a later reminder, for the gateway's answer.
boost::asio::awaitable<CloseService::Reread> CloseService::ready_to_close(DueBatch batch) {
  Reread reread = co_await heed_reminders(std::move(batch));
  if (reread.failure || reread.batch.orders.empty()) co_return reread;
  PaymentCheck::Screened screened = co_await check_.screen(std::move(reread.batch));
  reread.batch = std::move(screened.batch);
  reread.failure = std::move(screened.failure);
  co_return reread;
}

std::chrono::milliseconds CloseService::until_next() const {
  const Instant now = c_.clock.now();
  const std::optional<Instant> next = c_.engine.next_due(now);
  if (!next || !c_.clock.known() || !c_.figures.mapping_fits) return kLongestNap;
  return std::clamp<Duration>(saturating_sub(*next, now), 1ms, kLongestNap);
}

// A customer may have been given more time in the last moment: the scores of a due batch are read
// once more before it is closed. Best effort: without Redis the database's deadline holds alone.
boost::asio::awaitable<CloseService::Reread> CloseService::heed_reminders(DueBatch batch) {
  Reread reread;
  reread.batch = std::move(batch);
  if (c_.reminders == nullptr || !c_.components.is_up(kRedis)) co_return reread;

  std::vector<OrderId> ids;
  for (const TrackedOrder& order : reread.batch.orders) ids.push_back(order.id);
  Result<std::map<OrderId, NamedOrder>> named = co_await c_.orders.names_of(std::move(ids));
  if (!named) reread.failure = named.error();
  if (!named || named->empty()) co_return reread;

  std::vector<std::string> members;
  for (const auto& [id, order] : *named) members.push_back(order.member);
  Result<std::map<std::string, double>> scores = co_await c_.reminders->scores(std::move(members));
  if (!scores) {
    c_.components.down(kRedis, scores.error(), "extensions by reminders wait, closing goes on");
    co_return reread;
  }
  std::unordered_map<OrderId, Instant> later;
  const RedisConfig& redis = *c_.config.redis;
  const Instant now = c_.clock.now();
  for (const auto& [id, order] : *named) {
    const auto score = scores->find(order.member);
    if (score == scores->end()) continue;
    reread.reminders[id] = Reminder{order.member, score->second};
    const auto reminder = instant_of_score(score->second, redis.score);
    const Instant until = close_not_before(order.due, reminder, redis.max_extension);
    if (until > now) later.emplace(id, until);
  }
  c_.engine.postpone(reread.batch, later);
  co_return reread;
}

void CloseService::record(const DueBatch& batch, std::span<const CloseResult> results) {
  std::unordered_map<OrderId, Source> sources;
  for (const TrackedOrder& order : batch.orders) sources.emplace(order.id, order.source);
  const Instant now = c_.clock.now();
  bool any_closed = false;
  for (const CloseResult& result : results) {
    const auto source = sources.find(result.id);
    if (source == sources.end()) continue;
    c_.audit.decided(with_evidence(result), source->second, now);
    const Duration late = result.due ? saturating_sub(now, *result.due) : Duration{0};
    c_.metrics.decided(result.outcome, result.business_line, source->second, late.count());
    if (needs_a_person(result.outcome)) {
      c_.log.error("close", "order left open: a person has to look",
                   {{"order_no", result.order_no},
                    {"order_id", result.id},
                    {"reason", std::string(to_string(result.outcome))},
                    {"cause", result.detail}});
    }
    if (result.outcome != CloseOutcome::closed) continue;
    any_closed = true;
    c_.figures.closed += 1;
    c_.figures.closed_by_source.at(static_cast<std::size_t>(source->second)) += 1;
  }
  if (any_closed) c_.events.ring();
}

// What the gateway said belongs to the decision.
CloseResult CloseService::with_evidence(CloseResult result) const {
  const std::string evidence = check_.evidence(result.id);
  if (!evidence.empty()) result.detail += (result.detail.empty() ? "" : " ") + evidence;
  return result;
}

void CloseService::remember_settled(const std::map<OrderId, Reminder>& reminders,
                                    std::span<const CloseResult> results) {
  for (const CloseResult& result : results) {
    const auto reminder = reminders.find(result.id);
    if (reminder == reminders.end() || !is_final(result.outcome)) continue;
    if (c_.settled_reminders.size() >= kMostSettledReminders) return;
    c_.settled_reminders.push_back(reminder->second);
  }
}

void CloseService::report_failure(const DueBatch& batch, const Failure& failure) {
  switch (failure.kind) {
    case FailureKind::unavailable:
    case FailureKind::unknown:
      c_.components.down(kPostgres, failure, "orders wait in memory, nothing is lost");
      return;
    default:
      c_.log.warn("close", "batch failed",
                  {{"kind", std::string(to_string(failure.kind))},
                   {"orders", static_cast<std::int64_t>(batch.orders.size())},
                   {"sqlstate", failure.sqlstate},
                   {"cause", failure.detail}});
  }
}

boost::asio::awaitable<void> CloseService::act_on(CloseEngine::Verdict verdict, Failure failure) {
  if (verdict.broken) {
    c_.log.error("close", "stopped: every close fails alike, so the database is at fault",
                 {{"sqlstate", failure.sqlstate},
                  {"cause", failure.detail},
                  {"remedy",
                   "mend the order table or its grants (order-timeoutctl check); closing resumes "
                   "by itself"}});
    c_.metrics.set_paused("all", true);
  }
  if (verdict.mended) {
    c_.log.info("close", "resumed: orders close again");
    c_.metrics.set_paused("all", c_.closing_paused());
  }
  for (CloseEngine::Suspect& suspect : verdict.quarantine) {
    co_await set_aside(std::move(suspect));
  }
  if (!verdict.back_off) co_return;
  const auto wait =
      std::min<Duration>(kLongestBackoff, kFirstBackoff * (1 << std::min(failures_in_a_row_, 5)));
  failures_in_a_row_ += 1;
  co_await c_.stop.sleep(wait);
}

boost::asio::awaitable<void> CloseService::set_aside(CloseEngine::Suspect suspect) {
  const OrderId id = suspect.order.id;
  Result<Instant> next = co_await c_.orders.quarantine(id, suspect.failure);
  const Instant until = next ? *next : c_.clock.now() + 10s;
  c_.engine.delay(id, until);
  c_.engine.track(suspect.order);
  c_.audit.quarantined(id, suspect.failure, until);
  c_.log.error("close", next ? "order quarantined" : "order fails and could not be quarantined",
               {{"order_id", id},
                {"sqlstate", suspect.failure.sqlstate},
                {"cause", suspect.failure.detail},
                {"next_try", until}});
}

}  // namespace order_timeout::daemon
