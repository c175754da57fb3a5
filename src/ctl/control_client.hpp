// The daemon's control socket from the other side: one question, one answer. Blocks.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "order_timeout/outcome.hpp"

namespace order_timeout::ctl {

// Unavailable where nobody listens on `socket` or no whole answer came within `patience`.
Result<boost::json::object> ask_daemon(const std::string& socket,
                                       const boost::json::object& question, Duration patience);

}  // namespace order_timeout::ctl
