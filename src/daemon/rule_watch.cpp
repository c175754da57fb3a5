#include "daemon/rule_watch.hpp"

namespace order_timeout::daemon {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 1s;

}  // namespace

boost::asio::awaitable<void> RuleWatch::watch() {
  while (!c_.stop.requested()) {
    Result<std::int64_t> revision = co_await c_.control.rules_revision();
    if (revision && *revision > 0) compare(*revision);
    co_await c_.stop.sleep(kInterval);
  }
}

// Twice the same: a reload of our own is seen in the database before it has come back to us.
void RuleWatch::compare(std::int64_t revision) {
  if (revision == c_.figures.revision) return;
  if (std::exchange(seen_, revision) != revision) return;
  c_.log.change("config", "rules that this daemon did not write are in force",
                {{"revision", revision},
                 {"ours", c_.figures.revision},
                 {"remedy", "order-timeoutctl reload puts those of the file in force"}});
  c_.figures.revision = revision;
  c_.reread.request();
}

}  // namespace order_timeout::daemon
