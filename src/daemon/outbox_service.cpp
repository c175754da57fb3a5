#include "daemon/outbox_service.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <utility>

namespace order_timeout::daemon {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kIdle = 500ms;  // between looks into the outbox when no close rings
constexpr auto kRetryDatabase = 200ms;
constexpr auto kLease = 30s;
constexpr auto kFirstPause = 100ms;
constexpr auto kLongestPause = 5'000ms;
constexpr std::size_t kMostAtOnce = 500;  // results in one statement

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

OutboxService::OutboxService(Context& context, std::string name, std::shared_ptr<Sink> sink,
                             int concurrency)
    : c_(context),
      name_(std::move(name)),
      event_type_(event_type_of(name_)),
      sink_(std::move(sink)),
      policy_(context.config.outbox),
      concurrency_(concurrency),
      results_(context.loop),
      slots_(context.loop) {}

void OutboxService::reconfigure(std::shared_ptr<Sink> sink, int concurrency) {
  if (sink != sink_) pause_until_ = {};
  sink_ = std::move(sink);
  concurrency_ = concurrency;
  policy_ = OutboxPolicy(c_.config.outbox);
  slots_.ring();
}

void OutboxService::retire() {
  retired_ = true;
  slots_.ring();
}

boost::asio::awaitable<void> OutboxService::deliver_events() {
  while (!c_.stop.requested() && !retired_) {
    if (free_slots() <= 0) {
      co_await slots_.wait(kIdle);
      continue;
    }
    if (Clock::now() < pause_until_) {
      co_await c_.stop.sleep(pause_until_ - Clock::now());
      continue;
    }
    Result<std::vector<OutboxEvent>> claimed = co_await c_.outbox.claim(event_type_, free_slots());
    if (!claimed) {
      if (claimed.error().kind != FailureKind::overloaded) {
        c_.components.down(kPostgres, claimed.error(), "events wait in the outbox");
      }
      co_await c_.stop.sleep(kRetryDatabase);
      continue;
    }
    c_.components.up(kPostgres);
    if (claimed->empty()) {
      co_await c_.events.wait(kIdle);
      continue;
    }
    for (OutboxEvent& event : *claimed) start(std::move(event));
  }
  while (in_flight_ > 0) co_await slots_.wait(kIdle);
  done_ = true;
  results_.ring();
}

void OutboxService::start(OutboxEvent event) {
  in_flight_ += 1;
  boost::asio::co_spawn(c_.loop, deliver_one(std::move(event)), rethrow);
}

boost::asio::awaitable<void> OutboxService::deliver_one(OutboxEvent event) {
  const auto started = Clock::now();
  const std::shared_ptr<Sink> sink = sink_;
  DeliveryOutcome outcome = co_await sink->deliver(event);
  const std::chrono::duration<double> took = Clock::now() - started;
  c_.metrics.sink_request(name_, outcome.kind, took.count());
  note_health(outcome);
  const double random = std::uniform_real_distribution<double>(0.0, 1.0)(random_);
  NextStep step = policy_.next(event, outcome, random);
  finished_.push_back({std::move(event), std::move(outcome), std::move(step), Clock::now()});
  results_.ring();
}

// A sink that cannot be reached, or refuses us as such, is asked less and less often; no event is
// spent on finding out that it is still so.
void OutboxService::note_health(const DeliveryOutcome& outcome) {
  const bool unreachable = outcome.kind == DeliveryKind::retry && !outcome.attempt_spent;
  if (!unreachable && outcome.kind != DeliveryKind::unhealthy) {
    unreachable_in_a_row_ = 0;
    if (outcome.kind != DeliveryKind::uncertain) c_.components.up("sink:" + name_);
    return;
  }
  c_.components.down("sink:" + name_, Failure{FailureKind::unavailable, outcome.detail, ""},
                     "its events wait in the outbox, closing goes on");
  if (Clock::now() < pause_until_) return;
  const auto pause =
      std::min<Duration>(kLongestPause, kFirstPause * (1 << std::min(unreachable_in_a_row_, 6)));
  unreachable_in_a_row_ += 1;
  pause_until_ = Clock::now() + pause;
}

boost::asio::awaitable<void> OutboxService::finish_attempts() {
  while (!done_) {
    if (finished_.empty()) {
      co_await results_.wait(kIdle);
      continue;
    }
    std::vector<Finished> some;
    const std::size_t count = std::min(finished_.size(), kMostAtOnce);
    const auto end = finished_.begin() + static_cast<std::ptrdiff_t>(count);
    some.assign(std::make_move_iterator(finished_.begin()), std::make_move_iterator(end));
    finished_.erase(finished_.begin(), end);
    while (true) {
      const bool written = co_await write(some);
      if (written) break;
      // Beyond the lease nothing may be written any more: the events are claimed again, as
      // uncertain ones.
      if (Clock::now() - some.front().at > kLease) break;
      co_await c_.stop.sleep(kRetryDatabase);
      if (c_.stop.requested()) break;
    }
    in_flight_ -= static_cast<int>(some.size());
    slots_.ring();
  }
  ended_ = true;
}

boost::asio::awaitable<bool> OutboxService::write(std::vector<Finished>& finished) {
  std::vector<FinishedAttempt> attempts;
  for (const Finished& one : finished) {
    if (one.outcome.recorded) continue;
    attempts.push_back({one.event.row_id, one.event.leased_by, one.step.status, one.step.wait,
                        one.step.attempt_spent, one.step.last_error});
  }
  if (!attempts.empty()) {
    const auto asked = static_cast<std::int64_t>(attempts.size());
    Result<std::int64_t> written = co_await c_.outbox.finish(std::move(attempts));
    if (!written) {
      c_.components.down(kPostgres, written.error(), "results of deliveries wait");
      co_return false;
    }
    if (*written < asked) {
      c_.log.warn("outbox",
                  "leases lost before the result was written; the events are delivered again under "
                  "the same keys",
                  {{"event", name_}, {"events", asked - *written}});
    }
  }
  for (const Finished& one : finished) report(one);
  co_return true;
}

void OutboxService::report(const Finished& finished) {
  const Instant now = c_.clock.now();
  c_.audit.delivered(finished.event, finished.outcome, finished.step.status, now);
  if (finished.step.status == EventStatus::success) {
    c_.figures.delivered += 1;
    const Duration late = saturating_sub(now, finished.event.due);
    c_.metrics.released(std::chrono::duration<double>(late).count());
  }
  if (finished.step.status == EventStatus::dead) c_.figures.dead += 1;
}

}  // namespace order_timeout::daemon
