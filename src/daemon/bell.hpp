// Waiting on the loop that can be ended early: by ringing, and by the request to stop.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <set>

namespace order_timeout::daemon {

// Loop thread only. Must outlive its waiters: the daemon runs the loop dry before it goes.
class Bell {
 public:
  explicit Bell(boost::asio::io_context& loop) : loop_(loop) {}

  // Returns when `longest` has passed or somebody rang, whichever comes first.
  boost::asio::awaitable<void> wait(std::chrono::steady_clock::duration longest) {
    boost::asio::steady_timer timer(loop_, longest);
    waiting_.insert(&timer);
    co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    waiting_.erase(&timer);
  }

  // Wakes everybody who waits now.
  void ring() {
    for (boost::asio::steady_timer* timer : waiting_) timer->cancel();
  }

 private:
  boost::asio::io_context& loop_;
  std::set<boost::asio::steady_timer*> waiting_;
};

// The one request to stop: every service asks before it begins something new.
class StopSignal {
 public:
  explicit StopSignal(boost::asio::io_context& loop) : bell_(loop) {}

  bool requested() const { return requested_; }
  void request() {
    requested_ = true;
    bell_.ring();
  }
  // Sleeps; false where the daemon stops meanwhile or has been asked to already.
  boost::asio::awaitable<bool> sleep(std::chrono::steady_clock::duration duration) {
    if (!requested_) co_await bell_.wait(duration);
    co_return !requested_;
  }

 private:
  Bell bell_;
  bool requested_ = false;
};

}  // namespace order_timeout::daemon
