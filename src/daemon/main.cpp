// order-timeoutd: parse arguments, load the configuration, run the daemon.
#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "daemon/config_file.hpp"
#include "daemon/daemon.hpp"
#include "daemon/exit_code.hpp"
#include "telemetry/log.hpp"

namespace order_timeout::daemon {
namespace {

struct Arguments {
  std::string config_file = kDefaultConfigFile;
  std::vector<std::string> sets;
  bool check_config = false;
  bool print_config = false;
};

telemetry::Level level_of(const std::string& word) {
  if (word == "trace") return telemetry::Level::trace;
  if (word == "debug") return telemetry::Level::debug;
  if (word == "warn") return telemetry::Level::warn;
  if (word == "error") return telemetry::Level::error;
  return telemetry::Level::info;
}

int run(const Arguments& arguments) {
  auto loaded = load_config(arguments.config_file, arguments.sets);
  if (const auto* errors = std::get_if<std::vector<ConfigError>>(&loaded)) {
    for (const ConfigError& error : *errors) std::cerr << to_string(error) << '\n';
    std::cerr << "order-timeoutd: the configuration has " << errors->size()
              << (errors->size() == 1 ? " error" : " errors") << "; nothing was started\n";
    return kBadConfiguration;
  }
  ParsedConfig& parsed = std::get<ParsedConfig>(loaded);
  if (arguments.print_config) {
    std::cout << print_config(parsed);
    return kSuccess;
  }
  if (arguments.check_config) {
    std::cout << arguments.config_file << ": ok\n";
    return kSuccess;
  }
  telemetry::Log::Options options;
  options.directory = parsed.config.log_directory;
  options.level = level_of(parsed.config.log_level);
  options.format = parsed.config.log_format;
  options.max_size_bytes = parsed.config.log_max_size_bytes;
  options.keep = parsed.config.log_keep;
  auto log = telemetry::Log::open(options);
  if (!log) {
    std::cerr << "order-timeoutd: " << log.error().detail << '\n';
    return kBadConfiguration;
  }
  Daemon daemon(std::move(parsed.config), std::move(*log));
  return daemon.run();
}

}  // namespace
}  // namespace order_timeout::daemon

int main(int argc, char** argv) {
  using namespace order_timeout;
  std::signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_DUMPABLE, 0);  // secrets of the configuration stay out of core files
  daemon::Arguments arguments;
  CLI::App app{"Closes unpaid orders on time and releases what they hold."};
  app.add_option("--config", arguments.config_file, "Configuration file")->capture_default_str();
  app.add_option("--set", arguments.sets,
                 "KEY=VALUE: overrides the file, e.g. close.max_per_second=200")
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--check-config", arguments.check_config,
               "Check the configuration and exit: 0, or 78 with every error");
  app.add_flag("--print-config", arguments.print_config,
               "Print the effective configuration with the origin of each value, secrets masked");
  app.set_version_flag("--version", "order-timeoutd " ORDER_TIMEOUT_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kBadUsage;
  }
  try {
    return daemon::run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "order-timeoutd: " << error.what() << '\n';
    return kFailure;
  }
}
