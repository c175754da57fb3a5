#include "daemon/sweep_service.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace order_timeout::daemon {
namespace {

using namespace std::chrono_literals;

constexpr auto kRetryNightly = 60s;
constexpr auto kCheckSchedule =
    30s;  // the nightly instant is looked at anew, so clock changes do no harm
constexpr auto kLongestWaitForClosing = 10s;
constexpr std::chrono::milliseconds kRetireInterval = 60s;
constexpr std::chrono::milliseconds kRetirePause = 100ms;  // between two batches
constexpr auto kManualInterval = 2s;
constexpr int kRetireBatch = 1'000;

std::string_view name_of(SweepKind kind) {
  return kind == SweepKind::nightly ? "nightly" : "catch_up";
}

}  // namespace

// window x timeout of the line that waits longest: what became due longer ago is the nightly
// sweep's.
Duration SweepService::window() const {
  Duration longest{0};
  for (const auto& [name, line] : c_.config.business_lines) {
    longest = std::max(longest, line.timeout);
  }
  return longest * c_.config.sweep.window;
}

boost::asio::awaitable<void> SweepService::catch_up() {
  while (!c_.stop.requested()) {
    co_await c_.stop.sleep(c_.config.sweep.catch_up_interval);
    if (c_.stop.requested()) co_return;
    const Instant now = c_.clock.now();
    const Instant since = saturating_add(now, -window());
    Plan plan;
    plan.request.kind = ScanKind::recently_due;
    plan.request.became_due_since = last_catch_up_ ? std::min(since, *last_catch_up_) : since;
    const bool done = co_await run(std::move(plan));
    if (done) last_catch_up_ = now;
  }
}

boost::asio::awaitable<void> SweepService::nightly() {
  while (!c_.stop.requested()) {
    Result<std::optional<Instant>> last = co_await c_.control.last_nightly();
    if (last && c_.clock.known() && schedule_.missed(c_.clock.now(), *last)) {
      Plan plan;
      plan.kind = SweepKind::nightly;
      plan.source = Source::nightly;
      plan.request.kind = ScanKind::everything_due;
      const bool done = co_await run(std::move(plan));
      if (!done) co_await c_.stop.sleep(kRetryNightly);
      continue;
    }
    const Duration until = saturating_sub(schedule_.next(c_.clock.now()), c_.clock.now());
    co_await c_.stop.sleep(std::clamp<Duration>(until, 100ms, kCheckSchedule));
  }
}

boost::asio::awaitable<bool> SweepService::run(Plan plan) {
  Result<std::int64_t> id = co_await c_.control.begin_sweep(plan.kind);
  if (!id) {
    c_.log.warn("sweep", "not begun",
                {{"kind", std::string(name_of(plan.kind))}, {"cause", id.error().detail}});
    co_return false;
  }
  const auto index = static_cast<std::size_t>(plan.source);
  const std::int64_t closed_before = c_.figures.closed_by_source.at(index);
  Found found = co_await look(plan);
  co_await wait_for_closing(plan.source, closed_before + found.tracked);

  SweepReport report;
  report.run_id = *id;
  report.status = found.complete ? "SUCCESS" : (c_.stop.requested() ? "INTERRUPTED" : "FAILED");
  report.scanned = found.scanned;
  report.closed = c_.figures.closed_by_source.at(index) - closed_before;
  report.skipped = found.scanned - found.tracked;
  report.failed = found.complete ? 0 : 1;
  report.detail_json = "{\"tracked\":" + std::to_string(found.tracked) +
                       ",\"too_old\":" + std::to_string(found.too_old) + "}";
  telemetry::Fields fields{{"kind", std::string(name_of(plan.kind))},
                           {"status", report.status},
                           {"scanned", found.scanned},
                           {"tracked", found.tracked},
                           {"closed", report.closed},
                           {"too_old", found.too_old}};
  if (!found.failure.empty()) fields.emplace_back("cause", found.failure);
  const bool quiet = found.tracked == 0 && plan.kind == SweepKind::catch_up;
  const bool failed = report.status == "FAILED";
  const auto level = failed  ? telemetry::Level::error
                     : quiet ? telemetry::Level::debug
                             : telemetry::Level::info;
  c_.log.write(level, "sweep", "ended", fields);
  Result<Done> written = co_await c_.control.finish_sweep(std::move(report));
  co_return found.complete&& static_cast<bool>(written);
}

boost::asio::awaitable<SweepService::Found> SweepService::look(Plan plan) {
  Found found;
  plan.request.page_size = c_.config.sweep.page_size;
  while (!c_.stop.requested()) {
    Result<ScanPage> page = co_await c_.orders.scan(plan.request);
    if (!page) {
      found.failure = page.error().detail;
      co_return found;
    }
    for (TrackedOrder order : page->orders) {
      order.source = plan.source;
      if (c_.engine.track(order)) found.tracked += 1;
    }
    if (!page->orders.empty()) c_.due.ring();
    found.scanned += page->scanned;
    found.too_old += page->too_old;
    if (!page->next) {
      found.complete = true;
      co_return found;
    }
    plan.request.after = *page->next;
  }
  co_return found;
}

// So that the run's row can say how many it closed; what takes longer is in the audit log with this
// source.
boost::asio::awaitable<void> SweepService::wait_for_closing(Source source, std::int64_t target) {
  const auto until = std::chrono::steady_clock::now() + kLongestWaitForClosing;
  const auto index = static_cast<std::size_t>(source);
  while (c_.figures.closed_by_source.at(index) < target && !c_.stop.requested() &&
         std::chrono::steady_clock::now() < until) {
    co_await c_.stop.sleep(50ms);
  }
}

boost::asio::awaitable<void> SweepService::audit_manual_closes() {
  while (!c_.stop.requested()) {
    Result<std::vector<ManualClose>> closes = co_await c_.control.manual_closes();
    if (closes && !closes->empty()) {
      std::set<std::int64_t> runs;
      for (const ManualClose& close : *closes) {
        runs.insert(close.run_id);
        if (close.order_id == 0) continue;
        c_.audit.closed_by_hand(close);
        c_.metrics.closed_by_hand(close.business_line);
        c_.figures.closed_by_source.at(static_cast<std::size_t>(Source::manual)) += 1;
      }
      c_.events.ring();
      std::vector<std::int64_t> ids(runs.begin(), runs.end());
      Result<Done> noted = co_await c_.control.manual_closes_audited(std::move(ids));
      if (!noted) {
        c_.log.warn("audit", "closes by hand will be written once more",
                    {{"cause", noted.error().detail}});
      }
    }
    co_await c_.stop.sleep(kManualInterval);
  }
}

boost::asio::awaitable<void> SweepService::retire_events() {
  while (!c_.stop.requested()) {
    Result<std::int64_t> removed =
        co_await c_.outbox.retire(c_.config.outbox.retention, kRetireBatch);
    if (!removed) {
      c_.log.warn("outbox", "finished events not removed", {{"cause", removed.error().detail}});
    }
    const bool more = removed && *removed == kRetireBatch;
    const auto nap = more ? kRetirePause : kRetireInterval;
    co_await c_.stop.sleep(nap);
  }
}

}  // namespace order_timeout::daemon
