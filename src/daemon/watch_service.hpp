// Looking after orders that are closed, and telling what others did to orders. A payment that came
// too late is found here where the shop does not call pay_order; what the database noted (refunds,
// holds, extensions, illegal moves) goes into the logs, and an order that may be judged otherwise
// now goes back into the wheel.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <deque>
#include <span>

#include "daemon/context.hpp"

namespace order_timeout::daemon {

class WatchService {
 public:
  WatchService(Context& context, PaymentStore& payments) : c_(context), payments_(payments) {}

  // The closes of the last minute every two seconds, beside a round over all that are remembered.
  boost::asio::awaitable<void> watch_closed();
  // Every second: audit lines and alerts, and a new look at the order.
  boost::asio::awaitable<void> tell_notices();

 private:
  // Where the events stood at a moment.
  struct Mark {
    std::chrono::steady_clock::time_point at;
    WatchPosition position;
  };

  boost::asio::awaitable<bool> mark_newest();
  boost::asio::awaitable<void> look_at_recent();
  boost::asio::awaitable<void> look_further();
  boost::asio::awaitable<bool> tell_some();
  void warn_without_a_sink();
  void track(std::span<const Notice> notices);

  Context& c_;
  PaymentStore& payments_;
  std::deque<Mark> marks_;
  WatchPosition round_;
  bool warned_ = false;
};

}  // namespace order_timeout::daemon
