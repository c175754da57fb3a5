#include "daemon/systemd.hpp"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace order_timeout::daemon {
inline namespace systemd {
namespace {

// The socket stays named for later calls; what cannot be sent is not worth an error: systemd is
// gone or absent.
void notify(const std::string& state) { static_cast<void>(sd_notify(0, state.c_str())); }

// A newline would begin another assignment.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

void ready(const std::string& status) { notify("READY=1\nSTATUS=" + one_line(status)); }

void status(const std::string& text) { notify("STATUS=" + one_line(text)); }

void stopping() { notify("STOPPING=1"); }

void watchdog() { notify("WATCHDOG=1"); }

std::optional<Duration> watchdog_interval() {
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) <= 0) return std::nullopt;
  const std::uint64_t half_ms =
      std::min<std::uint64_t>(microseconds / 2'000, std::numeric_limits<std::int64_t>::max());
  return Duration{std::max<std::int64_t>(static_cast<std::int64_t>(half_ms), 1)};
}

void extend_timeout(Duration by) {
  notify("EXTEND_TIMEOUT_USEC=" + std::to_string(std::chrono::microseconds{by}.count()));
}

}  // namespace systemd
}  // namespace order_timeout::daemon
