// What an operator sees: status.json, the `stats:` line, gauges; and the watches behind them: the
// database's clock, the order table's mapping, the watchdog.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "daemon/context.hpp"

namespace order_timeout::daemon {

// Connections to PostgreSQL, as the bulkhead counts them.
struct ConnectionFigures {
  std::int64_t open = 0;
  std::int64_t busy = 0;
  std::int64_t queued = 0;
  std::int64_t lost = 0;  // cut off, and the server process not known to have ended
  std::int64_t reconnects = 0;
};

class StatusService {
 public:
  StatusService(Context& context, std::function<ConnectionFigures()> connections)
      : c_(context), connections_(std::move(connections)) {}

  // Asks the database for its time, once. False where it did not answer.
  boost::asio::awaitable<bool> sample_clock_once();
  boost::asio::awaitable<void> sample_clock();
  boost::asio::awaitable<void> write_figures();
  boost::asio::awaitable<void> feed_watchdog();
  // The figures of now as one line of JSON; those that only the database knows are at most 10 s
  // old.
  std::string status_json() const;

 private:
  boost::asio::awaitable<void> refresh();
  boost::asio::awaitable<void> refresh_orders();
  void write_stats_line();
  void set_gauges();

  Context& c_;
  std::function<ConnectionFigures()> connections_;
  std::int64_t closed_at_last_line_ = 0;
  Monotonic next_overview_{};
};

}  // namespace order_timeout::daemon
