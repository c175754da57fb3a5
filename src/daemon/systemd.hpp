// What we tell systemd (sd_notify). Called from the loop, so that a loop that hangs misses the
// watchdog. Every call is a single datagram that never waits; without systemd (no NOTIFY_SOCKET)
// nothing happens.
#pragma once

#include <optional>
#include <string>

#include "order_timeout/time.hpp"

namespace order_timeout::daemon {
inline namespace systemd {

// The service is up: with Type=notify `systemctl start` returns now. `status` is what `systemctl
// status` shows.
void ready(const std::string& status);
// One line, shown until the next.
void status(const std::string& text);
void stopping();
// Still turning: to be said more often than watchdog_interval().
void watchdog();
// Half of WatchdogSec, as systemd advises; nothing where no watchdog watches this process.
std::optional<Duration> watchdog_interval();
// A start or stop that goes on: it may take so much longer from now on.
void extend_timeout(Duration by);

}  // namespace systemd
}  // namespace order_timeout::daemon
