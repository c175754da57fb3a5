// The real order-timeoutd as a child process of a test: configuration, logs and a notify socket in
// one private directory that outlives restarts. Ends with its owner, and with the thread that
// started it. Not for several threads at once.
#pragma once

#include <sys/types.h>

#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/temp_dir.hpp"

namespace order_timeout::testing {

inline constexpr std::chrono::milliseconds kPatience = std::chrono::seconds{60};

// For the sample shop. The section of `extra` replaces the default one of the same name:
// discovery, sweep, close, guard, outbox, admin, log (of these directory and socket stay ours),
// order_table, business_lines, events, redis, database. No guard stops a test unless it asks.
struct DaemonSetup {
  std::string database_url{};
  std::string redis_url{};  // empty: no section `redis`; else polled every 100 ms
  std::string release_stock = "{sink: sql, statement: \"SELECT release_stock($1::jsonb)\"}";
  std::map<std::string, std::string> lines = {{"default", "{timeout: 1s, grace: 0s}"}};
  std::string extra{};                               // whole top-level sections
  std::vector<std::string> arguments{};              // after --config FILE
  std::map<std::string, std::string> environment{};  // beside the test's own
};

struct HttpAnswer {
  int status = 0;  // 0: no answer
  std::string body;
};

class DaemonProcess {
 public:
  explicit DaemonProcess(DaemonSetup setup);
  // Kills it; prints the end of its log where the test has failed.
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  // Writes the configuration and starts the program; again after it has ended, with the same
  // directory. Throws where it runs already.
  void start();
  // Whether READY=1 came since the last start, in time.
  bool await_ready(std::chrono::milliseconds patience = kPatience);
  void signal(int number) const;
  void kill9();  // and waits for its end; not running: nothing
  // SIGTERM; its exit code, or minus the signal that ended it. Kills it after `patience`.
  int terminate(std::chrono::milliseconds patience = kPatience);
  bool running();
  pid_t pid() const { return pid_; }  // 0 while not running
  // Its exit code, or minus the signal that ended it; nothing where it runs on. Also after the end.
  std::optional<int> wait_exit(std::chrono::milliseconds patience = kPatience);

  std::string log_text() const;     // order-timeoutd.log
  std::string audit_text() const;   // audit.log
  std::string output_text() const;  // stdout and stderr of all starts
  // Whether order-timeoutd.log (audit.log) holds `text`, written since the last start, in time.
  bool await_log(const std::string& text, std::chrono::milliseconds patience = kPatience);
  bool await_audit(const std::string& text, std::chrono::milliseconds patience = kPatience);
  // Every assignment that came to the notify socket since the last start, e.g. "WATCHDOG=1".
  const std::vector<std::string>& notifications();
  bool await_notification(const std::string& prefix,
                          std::chrono::milliseconds patience = kPatience);

  boost::json::object status_json() const;  // empty where the file is not there yet
  // Of the admin address; status 0 where nothing answers within `patience`.
  HttpAnswer http_get(const std::string& target,
                      std::chrono::milliseconds patience = std::chrono::seconds{10}) const;
  std::uint16_t admin_port() const;  // 0 before it listens

  // The --set of what is ours: logs, control socket, snapshot. order-timeoutctl needs them too.
  std::vector<std::string> place_arguments() const;
  void write_configuration() const;        // as start() does first
  DaemonSetup& setup() { return setup_; }  // changes hold from the next start on
  std::string configuration() const;       // the YAML
  std::filesystem::path directory() const { return directory_.path(); }
  std::filesystem::path config_file() const { return directory() / "order-timeoutd.yaml"; }
  std::filesystem::path log_directory() const { return directory() / "log"; }
  std::filesystem::path log_file() const { return log_directory() / "order-timeoutd.log"; }
  std::filesystem::path audit_file() const { return log_directory() / "audit.log"; }

 private:
  using Until = std::chrono::steady_clock::time_point;

  void open_notify_socket();
  void watch_logs();
  void receive_notifications();
  // Until something was written, notified or has ended, or a moment has passed.
  void await_anything(Until until);
  bool await_text(const std::filesystem::path& file, std::size_t from, const std::string& text,
                  std::chrono::milliseconds patience);
  bool reap(bool block);
  void print_end_of_log() const;

  DaemonSetup setup_;
  TempDir directory_;
  int notify_socket_ = -1;
  int log_watch_ = -1;  // inotify
  int pidfd_ = -1;
  pid_t pid_ = 0;
  std::optional<int> exit_code_;
  std::size_t log_start_ = 0;  // sizes of the files at the last start
  std::size_t audit_start_ = 0;
  std::vector<std::string> notifications_;
};

}  // namespace order_timeout::testing
