// The composition root: builds everything in order, owns the loop, runs the services, stops them in
// reverse.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/close_service.hpp"
#include "daemon/config_file.hpp"
#include "daemon/context.hpp"
#include "daemon/control_socket.hpp"
#include "daemon/control_verbs.hpp"
#include "daemon/deliveries.hpp"
#include "daemon/discovery_service.hpp"
#include "daemon/line_watch.hpp"
#include "daemon/pause_watch.hpp"
#include "daemon/reload_service.hpp"
#include "daemon/reminder_service.hpp"
#include "daemon/rule_watch.hpp"
#include "daemon/status_service.hpp"
#include "daemon/sweep_service.hpp"
#include "daemon/watch_service.hpp"
#include "http/admin_server.hpp"
#include "order_timeout/config.hpp"
#include "postgres/bulkhead.hpp"
#include "postgres/control_store.hpp"
#include "postgres/order_store.hpp"
#include "postgres/outbox_store.hpp"
#include "postgres/payment_store.hpp"
#include "redis/reminder_set.hpp"

namespace order_timeout::daemon {

class Daemon {
 public:
  using Load = std::function<ConfigOrErrors()>;

  // The log is open already: from here on everything worth saying goes there. `load` reads the
  // configuration anew.
  Daemon(LoadedConfig loaded, Load load, std::unique_ptr<telemetry::Log> log);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Runs until a signal or a failure ends it; the process's exit code.
  int run();

 private:
  using Service = boost::asio::awaitable<void>;
  // Made for a configuration that is not in force yet.
  struct Prepared {
    SweepSchedule schedule;
    Deliveries::Sinks sinks;
    std::shared_ptr<http::PaymentGateway> gateway;  // null where none is configured
  };

  // What run() does, in order.
  void say_start();
  bool make_parts();
  bool listen();
  void watch_signals();
  Service start_up();
  boost::asio::awaitable<bool> meet_database();
  Service say_what_does_not_fit(std::string detail);
  void rules_are_in_force(std::int64_t revision);
  bool give_up(const Failure& failure);
  void start_closing();
  void start_watching();

  // The two halves of a reload: what may fail, and what cannot.
  Result<Done> prepare(const Config& config);
  void adopt(ParsedConfig parsed);

  void spawn(std::string name, Service service);
  void service_ended(const std::string& name, std::exception_ptr failure);
  Service supervise_signals();
  void begin_shutdown(const std::string& why, int exit_code);
  void finish_shutdown();
  [[noreturn]] void exit_at_once(const std::string& why);

  // Built in this order, destroyed in reverse.
  LoadedConfig loaded_;
  const Config& config_ = loaded_.parsed.config;  // in force
  std::unique_ptr<telemetry::Log> log_;
  boost::asio::io_context loop_{1};
  telemetry::Audit audit_;
  telemetry::Metrics metrics_;
  Components components_;
  LoopClock clock_;
  StopSignal stop_;
  Bell due_;
  Bell events_;
  Reread reread_;
  Figures figures_;
  std::vector<Reminder> settled_reminders_;
  postgres::Bulkhead bulkhead_;
  postgres::OrderStore orders_;
  postgres::OutboxStore outbox_;
  postgres::ControlStore control_;
  postgres::PaymentStore payments_;
  std::unique_ptr<redis::ReminderSet> reminders_;
  CloseEngine engine_;
  Context context_;
  PaymentCheck payment_check_;
  CloseService closing_;
  DiscoveryService discovery_;
  ReminderService reminding_;
  WatchService watching_;
  StatusService status_;
  std::optional<SweepService> sweeps_;
  Deliveries deliveries_;
  PauseWatch pauses_;
  LineWatch lines_;
  RuleWatch rules_;
  std::optional<Prepared> prepared_;
  ReloadService reload_;
  ControlVerbs verbs_;
  http::AdminServer admin_;
  ControlSocket control_socket_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer shutdown_deadline_;

  int running_ = 0;  // services that have not ended
  int exit_code_ = 0;
  bool stopping_ = false;
};

}  // namespace order_timeout::daemon
