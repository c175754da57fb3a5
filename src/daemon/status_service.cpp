#include "daemon/status_service.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "daemon/systemd.hpp"
#include "telemetry/status_file.hpp"

namespace order_timeout::daemon {
namespace {

using namespace std::chrono_literals;

constexpr auto kClockInterval = 2s;
constexpr auto kStatusInterval = 10s;
constexpr int kStatusPerStatsLine = 6;  // one line a minute
constexpr int kOverviewRest = 20;       // times as long as the last count took
constexpr auto kWatchdogWithoutManager = 10s;

}  // namespace

boost::asio::awaitable<bool> StatusService::sample_clock_once() {
  DatabaseTimeSample sample;
  sample.sent = LoopClock::monotonic();
  Result<ClockSample> answer = co_await c_.control.sample_clock();
  sample.received = LoopClock::monotonic();
  if (!answer) {
    c_.components.down(kPostgres, answer.error(), "orders wait in memory, nothing is lost");
    co_return false;
  }
  c_.components.reads(kPostgres);
  sample.database = answer->database_now;
  const std::optional<ClockJump> jump = c_.clock.add(sample);
  if (jump) {
    c_.log.warn("clock", "the database's clock jumped",
                {{"before", jump->before}, {"after", jump->after}});
    c_.due.ring();
  }
  const Duration skew = c_.clock.skew();
  c_.metrics.set_clock_skew("postgres", std::chrono::duration<double>(skew).count());
  const Duration beyond_doubt = c_.config.clock_warn + c_.clock.uncertainty();
  if (skew > beyond_doubt || -skew > beyond_doubt) {
    c_.log.warn("clock", "this host and the database differ; the database's clock decides",
                {{"skew_ms", skew.count()}, {"remedy", "synchronise both clocks (NTP)"}});
  }
  co_return true;
}

boost::asio::awaitable<void> StatusService::sample_clock() {
  while (!c_.stop.requested()) {
    co_await sample_clock_once();
    co_await c_.stop.sleep(kClockInterval);
  }
}

boost::asio::awaitable<void> StatusService::write_figures() {
  int until_stats_line = kStatusPerStatsLine;
  while (!c_.stop.requested()) {
    co_await refresh();
    set_gauges();
    Result<Done> written = telemetry::write_status_file(c_.config.log_directory, status_json());
    if (!written)
      c_.log.warn("status", "status.json not written", {{"cause", written.error().detail}});
    if (--until_stats_line == 0) {
      write_stats_line();
      until_stats_line = kStatusPerStatsLine;
    }
    co_await c_.stop.sleep(kStatusInterval);
  }
}

boost::asio::awaitable<void> StatusService::refresh() {
  if (LoopClock::monotonic() >= next_overview_) co_await refresh_orders();
  Result<OutboxOverview> outbox = co_await c_.outbox.overview();
  if (outbox) c_.figures.outbox = std::move(*outbox);
  Result<MappingState> mapping = co_await c_.control.mapping_state();
  if (!mapping) co_return;
  if (c_.figures.mapping_fits && !mapping->fits) {
    c_.log.error("schema", "the order table has changed: closing pauses",
                 {{"reason", "schema_mismatch"}, {"cause", mapping->detail}});
  }
  if (!c_.figures.mapping_fits && mapping->fits) {
    c_.log.info("schema", "the order table fits again: closing resumes");
    c_.due.ring();
  }
  c_.figures.mapping_fits = mapping->fits;
}

// Counts all pending orders: of a large shop less often than every time.
boost::asio::awaitable<void> StatusService::refresh_orders() {
  const auto began = LoopClock::monotonic();
  Result<OrderOverview> orders = co_await c_.control.overview();
  const auto ended = LoopClock::monotonic();
  next_overview_ = ended + kOverviewRest * (ended - began);
  if (orders) c_.figures.orders = *orders;
  if (!orders) c_.log.warn("status", "figures are not fresh", {{"cause", orders.error().detail}});
}

void StatusService::set_gauges() {
  c_.metrics.set_paused("all", c_.closing_paused());
  c_.metrics.set_pending(static_cast<std::int64_t>(c_.engine.pending()));
  c_.metrics.set_overdue(c_.figures.orders.overdue, c_.figures.orders.oldest_overdue_seconds);
  c_.metrics.set_outbox(c_.figures.outbox.counts);
  c_.metrics.set_oldest_claimable(c_.figures.outbox.oldest_claimable_seconds);
  c_.metrics.set_wheel_bytes(c_.engine.memory_bytes());
}

std::string StatusService::status_json() const {
  namespace json = boost::json;
  json::object status;
  status["at_ms"] = to_ms(LoopClock::host());
  status["ready"] = c_.figures.rebuilt;
  status["pending"] = c_.engine.pending();
  status["overdue"] = c_.figures.orders.overdue;
  status["oldest_overdue_seconds"] = c_.figures.orders.oldest_overdue_seconds;
  status["closed"] = c_.figures.closed;
  json::object by_source;
  for (std::size_t i = 0; i < c_.figures.closed_by_source.size(); ++i) {
    by_source[to_string(static_cast<Source>(i))] = c_.figures.closed_by_source.at(i);
  }
  status["closed_by_source"] = std::move(by_source);
  status["delivered"] = c_.figures.delivered;
  status["dead"] = c_.figures.dead;
  status["held"] = c_.figures.orders.held;
  status["quarantined"] = c_.figures.orders.quarantined;
  status["too_old"] = c_.figures.orders.too_old;
  status["not_listed"] = c_.figures.orders.not_listed;
  json::array outbox;
  for (const EventCount& count : c_.figures.outbox.counts) {
    outbox.push_back(json::object{
        {"event_type", count.event_type}, {"status", count.status}, {"events", count.count}});
  }
  status["outbox"] = std::move(outbox);
  status["outbox_oldest_claimable_seconds"] = c_.figures.outbox.oldest_claimable_seconds;
  json::object components;
  for (const auto& [name, up] : c_.components.states()) components[name] = up ? "up" : "down";
  status["components"] = std::move(components);
  status["closing"] = c_.closing_paused() ? "paused" : "running";
  json::array paused;
  for (const Pause& pause : c_.figures.pauses) {
    paused.push_back(
        json::object{{"scope", pause.scope}, {"by", pause.by}, {"reason", pause.reason}});
  }
  status["paused"] = std::move(paused);
  json::object unlisted;
  for (const auto& [line, orders] : c_.figures.unlisted_lines) unlisted[line] = orders;
  status["unlisted_lines"] = std::move(unlisted);
  status["config"] = json::object{{"hash", c_.figures.config_hash},
                                  {"from_snapshot", c_.figures.from_snapshot},
                                  {"last_reload", c_.figures.last_reload}};
  status["rules_revision"] = c_.figures.revision;
  status["clock_skew_ms"] = c_.clock.skew().count();
  status["unknown_reminders"] = c_.figures.unknown_reminders;
  const ConnectionFigures connections = connections_();
  status["connections"] = json::object{{"open", connections.open},
                                       {"busy", connections.busy},
                                       {"queued", connections.queued},
                                       {"reconnects", connections.reconnects}};
  status["wheel_bytes"] = c_.engine.memory_bytes();
  status["log_lines_lost"] = c_.log.dropped();
  return json::serialize(status) + "\n";
}

void StatusService::write_stats_line() {
  const telemetry::LatenessSummary late = c_.metrics.take_lateness();
  std::int64_t waiting = 0;
  std::int64_t dead = 0;
  for (const EventCount& count : c_.figures.outbox.counts) {
    (count.status == "DEAD" ? dead : waiting) += count.count;
  }
  const ConnectionFigures connections = connections_();
  c_.log.info(
      "stats", "minute",
      {{"pending", static_cast<std::int64_t>(c_.engine.pending())},
       {"overdue", c_.figures.orders.overdue},
       {"closed", c_.figures.closed - std::exchange(closed_at_last_line_, c_.figures.closed)},
       {"late_p50_ms", late.p50_ms},
       {"late_p99_ms", late.p99_ms},
       {"late_max_ms", late.max_ms},
       {"events_waiting", waiting},
       {"events_dead", dead},
       {"delivered", c_.figures.delivered},
       {"reconnects", connections.reconnects},
       {"clock_skew_ms", c_.clock.skew().count()},
       {"wheel_bytes", static_cast<std::int64_t>(c_.engine.memory_bytes())}});
}

// From the loop, not from a thread of its own: a loop that hangs is restarted.
boost::asio::awaitable<void> StatusService::feed_watchdog() {
  const std::optional<Duration> interval = systemd::watchdog_interval();
  const Duration nap = interval ? *interval / 3 : Duration{kWatchdogWithoutManager};
  while (!c_.stop.requested()) {
    systemd::watchdog();
    co_await c_.stop.sleep(nap);
  }
}

}  // namespace order_timeout::daemon
