#include "daemon/discovery_service.hpp"

#include <algorithm>
#include <utility>

#include "daemon/systemd.hpp"
#include "order_timeout/deadline_policy.hpp"

namespace order_timeout::daemon {
namespace {

using namespace std::chrono_literals;

constexpr int kRebuildPage = 5'000;
constexpr int kDeadlinePage = 5'000;
constexpr auto kRetry = 500ms;
constexpr auto kProgressInterval = 2s;
// A timeout_task may delay a close as a Redis score may; without a `redis` section this is how far.
constexpr Duration kDefaultExtension = 24h;

const std::string kConsequence = "new orders wait to be found, nothing is lost";

}  // namespace

boost::asio::awaitable<void> DiscoveryService::rebuild() {
  rebuild_started_ = last_progress_ = std::chrono::steady_clock::now();
  const std::int64_t expected = c_.figures.orders.pending;
  std::int64_t read = 0;
  ScanRequest request;
  request.kind = ScanKind::everything_pending;
  request.page_size = kRebuildPage;
  while (!c_.stop.requested()) {
    Result<ScanPage> page = co_await c_.orders.scan(request);
    if (!page) {
      c_.components.down(kPostgres, page.error(), "the rebuild waits");
      co_await c_.stop.sleep(kRetry);
      continue;
    }
    c_.components.reads(kPostgres);
    track_all(page->orders, Source::startup);
    read += page->scanned;
    report_progress(read, expected);
    if (!page->next) break;
    request.after = *page->next;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - rebuild_started_;
  c_.metrics.set_rebuild_seconds(took.count());
  if (c_.stop.requested()) co_return;
  c_.figures.rebuilt = true;
  c_.log.info("rebuild", "complete",
              {{"orders", read},
               {"waiting", static_cast<std::int64_t>(c_.engine.pending())},
               {"seconds", took.count()}});
}

boost::asio::awaitable<void> DiscoveryService::read_again() {
  while (!c_.stop.requested()) {
    if (!c_.reread.take()) {
      co_await c_.reread.wait(kRetry);
      continue;
    }
    ScanRequest request;
    request.kind = ScanKind::everything_pending;
    request.page_size = kRebuildPage;
    std::int64_t read = 0;
    bool more = true;
    while (more && !c_.stop.requested()) {
      Result<ScanPage> page = co_await c_.orders.scan(request);
      if (!page) {
        c_.components.down(kPostgres, page.error(), "orders follow changed rules later");
        co_await c_.stop.sleep(kRetry);
        continue;
      }
      track_all(page->orders, Source::wheel);
      read += page->scanned;
      more = page->next.has_value();
      if (more) request.after = *page->next;
    }
    c_.log.info("rebuild", "waiting orders follow the rules", {{"orders", read}});
  }
}

void DiscoveryService::report_progress(std::int64_t read, std::int64_t expected) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_progress_ < kProgressInterval) return;
  last_progress_ = now;
  const std::chrono::duration<double> took = now - rebuild_started_;
  const double rate = static_cast<double>(read) / std::max(took.count(), 0.001);
  const std::int64_t left = std::max<std::int64_t>(expected - read, 0);
  c_.log.info("rebuild", "reading", {{"orders", read}, {"per_second", rate}, {"remaining", left}});
  systemd::extend_timeout(60s);
  systemd::status("rebuilding: " + std::to_string(read) + " orders read, about " +
                  std::to_string(left) + " to go");
}

void DiscoveryService::track_all(std::span<const TrackedOrder> orders, Source overdue_source) {
  const Instant now = c_.clock.now();
  for (TrackedOrder order : orders) {
    order.source = order.due <= now ? overdue_source : Source::wheel;
    c_.engine.track(order);
  }
  if (!orders.empty()) c_.due.ring();
}

boost::asio::awaitable<void> DiscoveryService::discover() {
  while (!c_.stop.requested()) {
    const bool more = co_await discover_once();
    if (!more) co_await c_.stop.sleep(c_.config.discovery_poll_interval);
  }
}

boost::asio::awaitable<bool> DiscoveryService::discover_once() {
  Result<Discovered> found = co_await c_.orders.discover(watermark_);
  if (!found) {
    c_.components.down(kPostgres, found.error(), kConsequence);
    co_return false;
  }
  c_.components.reads(kPostgres);
  track_all(found->orders, Source::wheel);
  watermark_ = found->next_watermark;
  co_return !found->complete;
}

boost::asio::awaitable<void> DiscoveryService::watch_own_deadlines() {
  while (!c_.stop.requested()) {
    ScanRequest request;
    request.kind = ScanKind::deadline_near;
    request.page_size = kDeadlinePage;
    while (!c_.stop.requested()) {
      Result<ScanPage> page = co_await c_.orders.scan(request);
      if (!page) break;  // discover() reports a database that is down
      track_all(page->orders, Source::wheel);
      if (!page->next) break;
      request.after = *page->next;
    }
    co_await c_.stop.sleep(c_.config.discovery_poll_interval);
  }
}

boost::asio::awaitable<void> DiscoveryService::watch_timeout_tasks() {
  while (!c_.stop.requested()) {
    co_await take_timeout_tasks();
    co_await c_.stop.sleep(c_.config.discovery_poll_interval);
  }
}

boost::asio::awaitable<void> DiscoveryService::take_timeout_tasks() {
  Result<std::vector<TimeoutTask>> tasks = co_await c_.orders.timeout_tasks();
  if (!tasks || tasks->empty()) co_return;  // discover() reports a database that is down
  const Duration longest = c_.config.redis ? c_.config.redis->max_extension : kDefaultExtension;
  std::vector<std::string> done;
  std::int64_t nameless = 0;
  for (const TimeoutTask& task : *tasks) {
    if (task.found && task.pending) {
      const Instant until = close_not_before(task.order.due, task.due_at, longest);
      if (until > task.order.due) c_.engine.delay(task.order.id, until);
      c_.engine.track(task.order);
    } else if (task.found || task.stale) {
      done.push_back(task.order_no);
      if (!task.found) ++nameless;
    }
  }
  c_.due.ring();
  if (nameless > 0) {
    c_.log.warn("discovery", "timeout tasks a day old name no order: set to DONE",
                {{"count", nameless}});
  }
  if (done.empty()) co_return;
  Result<Done> finished = co_await c_.orders.finish_timeout_tasks(std::move(done));
  if (!finished)
    c_.log.warn("discovery", "timeout tasks not marked done", {{"cause", finished.error().detail}});
}

}  // namespace order_timeout::daemon
