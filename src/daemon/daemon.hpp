// The composition root: builds everything in order, owns the loop, runs the services, stops them in
// reverse.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/close_service.hpp"
#include "daemon/context.hpp"
#include "daemon/discovery_service.hpp"
#include "daemon/outbox_service.hpp"
#include "daemon/reminder_service.hpp"
#include "daemon/status_service.hpp"
#include "daemon/sweep_service.hpp"
#include "http/admin_server.hpp"
#include "order_timeout/config.hpp"
#include "postgres/bulkhead.hpp"
#include "postgres/control_store.hpp"
#include "postgres/order_store.hpp"
#include "postgres/outbox_store.hpp"
#include "redis/reminder_set.hpp"

namespace order_timeout::daemon {

class Daemon {
 public:
  // The log is open already: from here on everything worth saying goes there.
  Daemon(Config config, std::unique_ptr<telemetry::Log> log);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Runs until a signal or a failure ends it; the process's exit code.
  int run();

 private:
  using Service = boost::asio::awaitable<void>;

  // What run() does, in order.
  bool make_sinks();
  bool listen();
  void watch_signals();
  Service start_up();
  boost::asio::awaitable<bool> meet_database();
  bool give_up(const Failure& failure);
  void start_closing();
  void start_delivering();
  void start_watching();

  void spawn(std::string name, Service service);
  void service_ended(const std::string& name, std::exception_ptr failure);
  Service supervise_signals();
  void begin_shutdown(const std::string& why, int exit_code);
  void finish_shutdown();
  [[noreturn]] void exit_at_once(const std::string& why);

  // Built in this order, destroyed in reverse.
  Config config_;
  std::unique_ptr<telemetry::Log> log_;
  boost::asio::io_context loop_{1};
  telemetry::Audit audit_;
  telemetry::Metrics metrics_;
  Components components_;
  LoopClock clock_;
  StopSignal stop_;
  Bell due_;
  Bell events_;
  Figures figures_;
  std::vector<Reminder> settled_reminders_;
  postgres::Bulkhead bulkhead_;
  postgres::OrderStore orders_;
  postgres::OutboxStore outbox_;
  postgres::ControlStore control_;
  std::unique_ptr<redis::ReminderSet> reminders_;
  CloseEngine engine_;
  Context context_;
  CloseService closing_;
  DiscoveryService discovery_;
  ReminderService reminding_;
  StatusService status_;
  std::optional<SweepService> sweeps_;
  std::map<std::string, std::unique_ptr<Sink>> sinks_;
  std::vector<std::unique_ptr<OutboxService>> deliveries_;
  http::AdminServer admin_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer shutdown_deadline_;

  int running_ = 0;  // services that have not ended
  int exit_code_ = 0;
  bool stopping_ = false;
};

}  // namespace order_timeout::daemon
