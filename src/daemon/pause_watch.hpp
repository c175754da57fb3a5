// What rests, as the table `pause` says: one line in the log when something is paused and when it
// goes on, a metric a scope, and the figures for status.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>

#include "daemon/context.hpp"

namespace order_timeout::daemon {

class PauseWatch {
 public:
  explicit PauseWatch(Context& context) : c_(context) {}

  boost::asio::awaitable<void> watch();
  // Once, now: somebody has changed it.
  boost::asio::awaitable<void> look();

 private:
  void compare(const std::vector<Pause>& pauses);

  Context& c_;
  std::map<std::string, Pause> known_;
};

}  // namespace order_timeout::daemon
