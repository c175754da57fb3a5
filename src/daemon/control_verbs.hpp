// What the control socket is asked, and what it answers: JSON objects, {"verb": "status" | "reload"
// | "pauses_changed", "confirm": true | false, "what", "by", "reason": text}.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "daemon/pause_watch.hpp"
#include "daemon/reload_service.hpp"
#include "daemon/status_service.hpp"

namespace order_timeout::daemon {

class ControlVerbs {
 public:
  ControlVerbs(telemetry::Log& log, StatusService& status, ReloadService& reload,
               PauseWatch& pauses)
      : log_(log), status_(status), reload_(reload), pauses_(pauses) {}

  // One line; for garbage {"result": "error", "message": …}.
  boost::asio::awaitable<std::string> answer(std::string line);

 private:
  telemetry::Log& log_;
  StatusService& status_;
  ReloadService& reload_;
  PauseWatch& pauses_;
};

}  // namespace order_timeout::daemon
