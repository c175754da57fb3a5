// What the services share: the edges they call, the core they drive, and the signals between them.
// Built by Daemon in the order of its members; everything here is used on the loop thread only and
// outlives every service.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/bell.hpp"
#include "daemon/components.hpp"
#include "daemon/loop_clock.hpp"
#include "order_timeout/close_engine.hpp"
#include "ports.hpp"
#include "telemetry/audit.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"

namespace order_timeout::daemon {

// Names of components as they stand in logs, metrics and status.json.
inline const std::string kPostgres = "postgres";
inline const std::string kRedis = "redis";

// Figures that belong to no single service.
struct Figures {
  bool rebuilt = false;
  bool mapping_fits = true;
  std::int64_t revision = 0;   // of the rules in force; 0: the start is not so far
  std::string config_hash;     // of the values in force
  bool from_snapshot = false;  // the file was broken at start: the snapshot is in force
  std::string last_reload;     // how it ended
  std::vector<Pause> pauses;
  std::map<std::string, std::int64_t> unlisted_lines;  // pending orders by them
  std::int64_t closed = 0;
  std::array<std::int64_t, 6> closed_by_source{};  // by Source
  std::int64_t delivered = 0;
  std::int64_t dead = 0;
  std::int64_t unknown_reminders = 0;  // members that name no order
  OrderOverview orders;
  OutboxOverview outbox;
};

// A wish to read all pending orders once more: the rules have changed.
class Reread {
 public:
  explicit Reread(boost::asio::io_context& loop) : bell_(loop) {}
  void request() {
    wanted_ = true;
    bell_.ring();
  }
  void wake() { bell_.ring(); }
  bool take() { return std::exchange(wanted_, false); }
  boost::asio::awaitable<void> wait(std::chrono::steady_clock::duration longest) {
    return bell_.wait(longest);
  }

 private:
  Bell bell_;
  bool wanted_ = false;
};

struct Context {
  boost::asio::io_context& loop;
  const Config& config;
  OrderStore& orders;
  OutboxStore& outbox;
  ControlStore& control;
  ReminderSet* reminders;  // null without a `redis` section
  telemetry::Log& log;
  telemetry::Audit& audit;
  telemetry::Metrics& metrics;
  Components& components;
  LoopClock& clock;
  CloseEngine& engine;
  StopSignal& stop;
  Bell& due;     // rung when an order may be due sooner than the closers know
  Bell& events;  // rung when a close has written events
  Figures& figures;
  std::vector<Reminder>&
      settled_reminders;  // to be removed from the ZSET; bounded by kMostSettledReminders
  Reread& reread;

  // No order is closed now.
  bool closing_paused() const {
    const auto is_all = [](const Pause& pause) { return pause.scope == "all"; };
    return !figures.mapping_fits || engine.broken() ||
           std::any_of(figures.pauses.begin(), figures.pauses.end(), is_all);
  }
};

// What is above this stays in the ZSET until the next poll sees it again.
inline constexpr std::size_t kMostSettledReminders = 100'000;

}  // namespace order_timeout::daemon
