// Finding orders: everything pending at start, whatever is new ever after, and the shop's timeout
// tasks. Tracks only; what is due is closed by the close service.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <span>

#include "daemon/context.hpp"

namespace order_timeout::daemon {

class DiscoveryService {
 public:
  explicit DiscoveryService(Context& context) : c_(context) {}

  // Reads every pending order, oldest first; overdue ones begin to close meanwhile. Comes back when
  // all are read, or the daemon stops. A page that fails is read again.
  boost::asio::awaitable<void> rebuild();
  // New orders, every discovery.poll_interval, from the instant given on.
  boost::asio::awaitable<void> discover();
  // Reads every pending order once more whenever somebody asks for it, so that orders which wait
  // follow changed rules. Any number of wishes is one; a page that fails is read again.
  boost::asio::awaitable<void> read_again();
  // Own deadlines that the shop brings forward, every discovery.poll_interval.
  boost::asio::awaitable<void> watch_own_deadlines();
  // Rows of timeout_task, every discovery.poll_interval.
  boost::asio::awaitable<void> watch_timeout_tasks();

  // One look at timeout_task; also before the first close, so that what it delays is known.
  boost::asio::awaitable<void> take_timeout_tasks();

  // Fixes where discover() begins; before rebuild(), so that nothing falls between the two.
  void begin_at(Instant watermark) { watermark_ = watermark; }

 private:
  boost::asio::awaitable<bool> discover_once();
  void track_all(std::span<const TrackedOrder> orders, Source overdue_source);
  void report_progress(std::int64_t read, std::int64_t expected);

  Context& c_;
  Instant watermark_{};
  std::chrono::steady_clock::time_point rebuild_started_;
  std::chrono::steady_clock::time_point last_progress_;
};

}  // namespace order_timeout::daemon
