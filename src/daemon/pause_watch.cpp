#include "daemon/pause_watch.hpp"

#include <utility>

namespace order_timeout::daemon {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 5s;

telemetry::Fields fields_of(const Pause& pause) {
  telemetry::Fields fields{{"scope", pause.scope}, {"by", pause.by}, {"reason", pause.reason}};
  if (pause.until) fields.emplace_back("until", *pause.until);
  return fields;
}

}  // namespace

boost::asio::awaitable<void> PauseWatch::watch() {
  while (!c_.stop.requested()) {
    co_await look();
    co_await c_.stop.sleep(kInterval);
  }
}

boost::asio::awaitable<void> PauseWatch::look() {
  Result<std::vector<Pause>> pauses = co_await c_.control.pauses();
  if (!pauses) co_return;  // discovery reports a database that is down
  c_.figures.pauses = std::move(*pauses);
  compare(c_.figures.pauses);
}

void PauseWatch::compare(const std::vector<Pause>& pauses) {
  std::map<std::string, Pause> now;
  for (const Pause& pause : pauses) {
    now.emplace(pause.scope, pause);
    const auto known = known_.find(pause.scope);
    if (known != known_.end() && known->second == pause) continue;
    c_.log.change("pause", "paused", fields_of(pause));
    if (pause.scope != "all") c_.metrics.set_paused(pause.scope, true);
  }
  bool any_ended = false;
  for (const auto& [scope, pause] : known_) {
    if (now.contains(scope)) continue;
    any_ended = true;
    c_.log.info("pause", "resumed", fields_of(pause));
    if (scope != "all") c_.metrics.set_paused(scope, false);
  }
  known_ = std::move(now);
  c_.metrics.set_paused("all", c_.closing_paused());
  if (!any_ended) return;
  c_.due.ring();
  c_.events.ring();
}

}  // namespace order_timeout::daemon
