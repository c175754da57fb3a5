// Business lines that orders name and the rules do not: each value is told once, and counted in
// status, so that a misspelt line does not go unnoticed under the rule of `default`.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <set>
#include <string>

#include "daemon/context.hpp"

namespace order_timeout::daemon {

class LineWatch {
 public:
  explicit LineWatch(Context& context) : c_(context) {}

  // Once a minute.
  boost::asio::awaitable<void> watch();

 private:
  void tell(const std::map<std::string, std::int64_t>& lines);

  Context& c_;
  std::set<std::string> told_;  // bounded: beyond it nothing is told any more
};

}  // namespace order_timeout::daemon
