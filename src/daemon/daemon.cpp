#include "daemon/daemon.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <exception>
#include <utility>

#include "daemon/exit_code.hpp"
#include "daemon/rules.hpp"
#include "daemon/sinks.hpp"
#include "daemon/systemd.hpp"

namespace order_timeout::daemon {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirstRetry = 200ms;
constexpr auto kLongestRetry = 5'000ms;
constexpr auto kShutdownDeadline =
    9s;  // with what the last steps take, within the 10 s of the contract
constexpr Duration kLastCalls =
    500ms;  // for statements still under way when every service has ended
constexpr Duration kLookBack =
    10min;  // discovery begins so far back: what commits late may be that old
constexpr auto kRedisDeadline = 500ms;  // a Redis that hangs holds up one batch by this much, once

std::unique_ptr<redis::ReminderSet> make_reminders(boost::asio::io_context& loop,
                                                   const Config& config) {
  if (!config.redis) return nullptr;
  redis::Connection::Options options;
  options.connect_timeout = kRedisDeadline;
  options.command_timeout = kRedisDeadline;
  return std::make_unique<redis::ReminderSet>(loop.get_executor(), *config.redis, options);
}

// SQLSTATEs of objects that `migrate` makes and that are not there.
bool means_not_migrated(const std::string& sqlstate) {
  return sqlstate == "3F000" || sqlstate == "42P01" || sqlstate == "42883" || sqlstate == "42703";
}

}  // namespace

Daemon::Daemon(LoadedConfig loaded, Load load, std::unique_ptr<telemetry::Log> log)
    : loaded_(std::move(loaded)),
      log_(std::move(log)),
      audit_(*log_),
      components_(*log_, metrics_),
      stop_(loop_),
      due_(loop_),
      events_(loop_),
      reread_(loop_),
      bulkhead_(loop_.get_executor(), config_.database),
      orders_(bulkhead_, config_),
      outbox_(bulkhead_),
      control_(bulkhead_, config_),
      payments_(bulkhead_),
      reminders_(make_reminders(loop_, config_)),
      engine_(engine_options(config_), kAlways),
      context_{loop_,
               config_,
               orders_,
               outbox_,
               control_,
               reminders_.get(),
               *log_,
               audit_,
               metrics_,
               components_,
               clock_,
               engine_,
               stop_,
               due_,
               events_,
               figures_,
               settled_reminders_,
               reread_},
      payment_check_(context_, payments_,
                     [this](std::string name, Service service) {
                       spawn(std::move(name), std::move(service));
                     }),
      closing_(context_, payment_check_),
      discovery_(context_),
      reminding_(context_),
      watching_(context_, payments_),
      status_(context_, [this] { return connection_figures(bulkhead_); }),
      deliveries_(context_, bulkhead_,
                  [this](std::string name, Service service) {
                    spawn(std::move(name), std::move(service));
                  }),
      pauses_(context_),
      lines_(context_),
      rules_(context_),
      reload_(context_, loaded_.parsed,
              {std::move(load), [this](const Config& config) { return prepare(config); },
               [this](ParsedConfig parsed) { adopt(std::move(parsed)); }}),
      verbs_(*log_, status_, reload_, pauses_),
      admin_(loop_.get_executor(), admin_options(config_),
             {[this] { return metrics_.scrape(); },
              [this] { return readiness(figures_, components_); }}),
      control_socket_(loop_.get_executor(), config_.admin_socket,
                      [this](std::string line) { return verbs_.answer(std::move(line)); }),
      signals_(loop_),
      shutdown_deadline_(loop_) {}

Daemon::~Daemon() = default;

int Daemon::run() {
  say_start();
  if (!make_parts()) return kBadConfiguration;
  if (!listen()) return kFailure;
  watch_signals();
  spawn("watchdog", status_.feed_watchdog());
  spawn("reload", reload_.serve());
  spawn("start-up", start_up());
  loop_.run();
  // A thread inside libpq's connect or name look-up cannot be interrupted; joining it could take
  // minutes.
  if (bulkhead_.counters().busy > 0) exit_at_once("a connection attempt that does not end");
  log_->info("daemon", "stopped", {{"exit_code", static_cast<std::int64_t>(exit_code_)}});
  log_->flush();
  return exit_code_;
}

bool Daemon::listen() {
  Result<Done> started = admin_.start();
  if (!started) {
    log_->error("admin", "cannot listen",
                {{"listen", config_.admin_listen},
                 {"cause", started.error().detail},
                 {"remedy", "free the address or change admin.listen"}});
    return false;
  }
  log_->info("admin", "listening", {{"port", static_cast<std::int64_t>(admin_.port())}});
  Result<Done> controlled = control_socket_.start();
  if (!controlled) {
    log_->warn("admin", "no control socket: order-timeoutctl cannot reach this daemon",
               {{"cause", controlled.error().detail}});
  }
  return true;
}

// The start, step by step. Closing begins before the rebuild is complete: the oldest orders are
// read first.
Daemon::Service Daemon::start_up() {
  const bool met = co_await meet_database();
  if (!met) co_return;
  if (reminders_) co_await reminding_.meet();
  co_await discovery_.take_timeout_tasks();
  start_closing();
  deliveries_.start();
  discovery_.begin_at(saturating_add(clock_.now(), -kLookBack));
  spawn("discover", discovery_.discover());
  co_await discovery_.rebuild();
  if (stop_.requested()) co_return;
  start_watching();
  systemd::ready("closing unpaid orders");
  log_->info("daemon", "ready", {{"waiting", static_cast<std::int64_t>(engine_.pending())}});
}

boost::asio::awaitable<bool> Daemon::meet_database() {
  Duration wait = kFirstRetry;
  while (!stop_.requested()) {
    Result<MappingState> mapping = co_await control_.mapping_state();
    const bool fits = mapping && mapping->fits;
    if (mapping && !fits) {
      co_await say_what_does_not_fit(mapping->detail);
      begin_shutdown("schema", kBadConfiguration);
      co_return false;
    }
    if (fits) {
      Result<std::int64_t> revision = co_await put_rules_in_force(context_);
      if (revision) {
        const bool clock_known = co_await status_.sample_clock_once();
        if (clock_known) {
          rules_are_in_force(*revision);
          co_return true;
        }
      } else if (give_up(revision.error())) {
        co_return false;
      } else {
        components_.down(kPostgres, revision.error(), "the start waits for it");
      }
    } else if (give_up(mapping.error())) {
      co_return false;
    } else {
      components_.down(kPostgres, mapping.error(), "the start waits for it");
    }
    systemd::status("waiting for PostgreSQL");
    systemd::extend_timeout(60s);
    co_await stop_.sleep(wait);
    wait = std::min<Duration>(wait * 2, kLongestRetry);
  }
  co_return false;
}

boost::asio::awaitable<void> Daemon::say_what_does_not_fit(std::string detail) {
  log_->error(
      "schema", "the database's objects were not made for this configuration",
      {{"reason", "schema_mismatch"}, {"cause", detail}, {"remedy", "order-timeoutctl migrate"}});
  Result<std::vector<std::string>> problems = co_await control_.mapping_problems();
  if (!problems) co_return;  // the role may not look; migrate, as the owner, does
  for (const std::string& problem : *problems) {
    log_->error("schema", "the order table does not fit", {{"cause", problem}});
  }
}

// A start that no waiting can mend.
bool Daemon::give_up(const Failure& failure) {
  if (failure.kind != FailureKind::rejected) return false;
  if (means_not_migrated(failure.sqlstate)) {
    log_->error("schema", "the database has not been prepared, or for another version",
                {{"sqlstate", failure.sqlstate},
                 {"cause", failure.detail},
                 {"remedy", "order-timeoutctl migrate"}});
    begin_shutdown("schema", kBadConfiguration);
    return true;
  }
  if (failure.sqlstate != "42501") return false;
  log_->error("schema", "the database refuses",
              {{"sqlstate", failure.sqlstate},
               {"cause", failure.detail},
               {"remedy", "order-timeoutctl check names what is missing"}});
  begin_shutdown("schema", kNoPermission);
  return true;
}

// One lane has the connection that is reserved for closing; a second one may take any that is idle.
void Daemon::start_closing() {
  const int lanes = config_.database.connections >= 4 ? 2 : 1;
  for (int lane = 1; lane <= lanes; ++lane) {
    spawn("close lane " + std::to_string(lane), closing_.run_lane());
  }
  spawn("clock", status_.sample_clock());
  spawn("status", status_.write_figures());
  spawn("pauses", pauses_.watch());
}

void Daemon::start_watching() {
  spawn("reread", discovery_.read_again());
  spawn("lines", lines_.watch());
  spawn("rules", rules_.watch());
  spawn("timeout tasks", discovery_.watch_timeout_tasks());
  if (!config_.order_table.columns.deadline.empty()) {
    spawn("own deadlines", discovery_.watch_own_deadlines());
  }
  if (reminders_) spawn("reminders", reminding_.watch_reminders());
  spawn("notices", watching_.tell_notices());
  spawn("closed orders", watching_.watch_closed());
  spawn("catch-up", sweeps_->catch_up());
  spawn("nightly", sweeps_->nightly());
  spawn("manual closes", sweeps_->audit_manual_closes());
  spawn("retention", sweeps_->retire_events());
}

void Daemon::spawn(std::string name, Service service) {
  running_ += 1;
  auto ended = [this, name = std::move(name)](std::exception_ptr failure) {
    service_ended(name, std::move(failure));
  };
  boost::asio::co_spawn(loop_, std::move(service), std::move(ended));
}

// Alive and idle is the worst state of all: a service that ends by itself ends the daemon, and
// systemd starts it anew.
void Daemon::service_ended(const std::string& name, std::exception_ptr failure) {
  running_ -= 1;
  if (failure) {
    std::string what = "unknown exception";
    try {
      std::rethrow_exception(std::move(failure));
    } catch (const std::exception& error) {
      what = error.what();
    } catch (...) {
    }
    log_->error("daemon", "a service failed", {{"service", name}, {"cause", what}});
    begin_shutdown("a service failed", kFailure);
  }
  if (stopping_ && running_ == 0) finish_shutdown();
}

void Daemon::watch_signals() {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) signals_.add(signal);
  auto failed = [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  };
  boost::asio::co_spawn(loop_, supervise_signals(), failed);
}

Daemon::Service Daemon::supervise_signals() {
  while (true) {
    auto [error, signal] =
        co_await signals_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (error) co_return;
    if (signal == SIGTERM || signal == SIGINT) {
      if (stopping_) exit_at_once("a second signal");
      begin_shutdown(signal == SIGTERM ? "SIGTERM" : "SIGINT", kSuccess);
      continue;
    }
    if (signal == SIGHUP) {
      reload_.request();
    } else {
      log_->reopen();
      log_->info("daemon", "log files reopened");
    }
  }
}

void Daemon::begin_shutdown(const std::string& why, int exit_code) {
  if (stopping_) return;
  stopping_ = true;
  exit_code_ = exit_code;
  log_->info("daemon", "stopping", {{"why", why}});
  systemd::stopping();
  shutdown_deadline_.expires_after(kShutdownDeadline);
  shutdown_deadline_.async_wait([this](const boost::system::error_code& error) {
    if (!error) exit_at_once("the deadline for stopping");
  });
  stop_.request();
  due_.ring();
  events_.ring();
  reread_.wake();
  reload_.wake();
}

void Daemon::finish_shutdown() {
  signals_.cancel();
  shutdown_deadline_.cancel();
  admin_.stop();
  control_socket_.stop();
  if (reminders_) reminders_->stop();
  boost::asio::co_spawn(loop_, bulkhead_.stop(kLastCalls), [](const std::exception_ptr&) {});
}

// What is under way is cut off. PostgreSQL rolls back what did not commit, leases lapse, nothing is
// lost.
void Daemon::exit_at_once(const std::string& why) {
  log_->warn("daemon", "stopped at once; unfinished work is taken up at the next start",
             {{"why", why}});
  log_->flush();
  std::_Exit(exit_code_);
}

}  // namespace order_timeout::daemon
