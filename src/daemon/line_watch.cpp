#include "daemon/line_watch.hpp"

#include <utility>

namespace order_timeout::daemon {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 60s;
constexpr std::size_t kMostTold = 1'000;

}  // namespace

boost::asio::awaitable<void> LineWatch::watch() {
  while (!c_.stop.requested()) {
    Result<std::map<std::string, std::int64_t>> lines = co_await c_.control.unlisted_lines();
    if (lines) {
      tell(*lines);
      c_.figures.unlisted_lines = std::move(*lines);
    }
    co_await c_.stop.sleep(kInterval);
  }
}

void LineWatch::tell(const std::map<std::string, std::int64_t>& lines) {
  const bool has_default = c_.config.business_lines.contains("default");
  for (const auto& [line, orders] : lines) {
    if (told_.size() >= kMostTold || !told_.insert(line).second) continue;
    c_.log.warn(
        "close", "orders of a business line that is not listed",
        {{"cause", line},
         {"orders", orders},
         {"consequence", has_default ? "they take the rule of default" : "they are left alone"}});
  }
}

}  // namespace order_timeout::daemon
