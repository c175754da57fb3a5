// order-timeoutd: parse arguments, load the configuration, run the daemon.
#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "daemon/config_file.hpp"
#include "daemon/daemon.hpp"
#include "daemon/exit_code.hpp"
#include "daemon/sinks.hpp"
#include "telemetry/log.hpp"

namespace order_timeout::daemon {
namespace {

struct Arguments {
  std::string config_file = kDefaultConfigFile;
  std::vector<std::string> sets;
  bool check_config = false;
  bool print_config = false;
};

int refuse(const std::vector<ConfigError>& errors) {
  std::cerr << mistakes_text(errors) << "order-timeoutd: the configuration has " << errors.size()
            << (errors.size() == 1 ? " error" : " errors") << "; nothing was started\n";
  return kBadConfiguration;
}

int check(const Arguments& arguments) {
  const auto loaded = load_config(arguments.config_file, arguments.sets);
  if (const auto* errors = std::get_if<std::vector<ConfigError>>(&loaded)) return refuse(*errors);
  std::cout << arguments.config_file << ": ok\n";
  return kSuccess;
}

int run(const Arguments& arguments) {
  if (arguments.check_config && !arguments.print_config) return check(arguments);
  auto found = load_config_or_snapshot(arguments.config_file, arguments.sets);
  if (const auto* errors = std::get_if<std::vector<ConfigError>>(&found)) return refuse(*errors);
  LoadedConfig& loaded = std::get<LoadedConfig>(found);
  if (loaded.from_snapshot()) {
    std::cerr << mistakes_text(loaded.mistakes) << "order-timeoutd: " << arguments.config_file
              << " cannot be used; in its place the snapshot of the last configuration that "
                 "worked\n";
  }
  if (arguments.print_config) {
    std::cout << print_config(loaded.parsed);
    return kSuccess;
  }
  auto log = telemetry::Log::open(log_options(loaded.parsed.config));
  if (!log) {
    std::cerr << "order-timeoutd: " << log.error().detail << '\n';
    return kBadConfiguration;
  }
  auto load = [arguments] { return load_config(arguments.config_file, arguments.sets); };
  Daemon daemon(std::move(loaded), std::move(load), std::move(*log));
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
