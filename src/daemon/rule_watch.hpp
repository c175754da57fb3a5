// Rules that somebody else has put in force, another daemon or a person: the newest hold for all,
// so the orders that wait here follow them.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>

#include "daemon/context.hpp"

namespace order_timeout::daemon {

class RuleWatch {
 public:
  explicit RuleWatch(Context& context) : c_(context) {}

  // Every second.
  boost::asio::awaitable<void> watch();

 private:
  void compare(std::int64_t revision);

  Context& c_;
  std::int64_t seen_ = 0;  // another revision than ours, at the last look
};

}  // namespace order_timeout::daemon
