// order-timeoutctl: the operator's tool. One verb a call.
#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <regex>

#include "ctl/invocation.hpp"
#include "daemon/config_file.hpp"
#include "daemon/exit_code.hpp"

namespace order_timeout::ctl {
namespace {

struct Arguments {
  std::string config_file = daemon::kDefaultConfigFile;
  std::vector<std::string> sets;
  std::string url;
  bool json = false;
  bool drop_view = false;
  CloseRequest close;
  std::function<int(const Invocation&)> verb;
};

// CLI11's way: the mistake, or nothing. The database would take much else for a time.
std::string mistake_in_time(const std::string& text) {
  static const std::regex rfc3339(
      R"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d))");
  if (std::regex_match(text, rfc3339)) return "";
  return "not RFC 3339, as 2026-11-30T17:48:46Z or 2026-12-01T01:48:46+08:00: " + text;
}

std::string mistake_in_reason(const std::string& text) {
  return text.find_first_not_of(" \t\n") == std::string::npos ? "a reason must say something" : "";
}

void add_close(CLI::App& app, Arguments& arguments) {
  CloseRequest& request = arguments.close;
  CLI::App* verb =
      app.add_subcommand("close", "Close orders by hand, past their deadline and never paid ones");
  CLI::Option* order = verb->add_option("--order-no", request.order_nos, "Order numbers");
  CLI::Option* user = verb->add_option("--user", request.user, "All pending orders of this user");
  CLI::Option* line =
      verb->add_option("--business-line", request.business_line, "All pending orders of this line");
  order->excludes(user)->excludes(line);
  user->excludes(line);
  verb->add_option("--from", request.from, "Created at or after (RFC 3339)")
      ->check(mistake_in_time);
  verb->add_option("--to", request.to, "Created before (RFC 3339)")->check(mistake_in_time);
  verb->add_flag("--not-due", request.not_due, "Also orders whose deadline has not passed");
  verb->add_option("--limit", request.limit, "Close at most so many")
      ->check(CLI::Range(1, 1'000'000));
  verb->add_flag("--dry-run", request.dry_run, "Show what would be tried, close nothing");
  verb->add_option("--reason", request.reason, "Why; kept with the record")
      ->required()
      ->check(mistake_in_reason);
  verb->callback([&arguments, order, user, line] {
    if (order->empty() && user->empty() && line->empty()) {
      throw CLI::ValidationError("close", "needs --order-no, --user or --business-line");
    }
    arguments.verb = [&arguments](const Invocation& invocation) {
      return close(invocation, arguments.close);
    };
  });
}

void add_verbs(CLI::App& app, Arguments& arguments) {
  app.require_subcommand(1);
  CLI::App* migrating =
      app.add_subcommand("migrate", "Make or update the database objects (as the owner: --url)");
  migrating->add_flag("--drop-view", arguments.drop_view,
                      "Drop the views, so that the order table can be altered");
  migrating->callback([&arguments] {
    arguments.verb = [&arguments](const Invocation& invocation) {
      return migrate(invocation, arguments.drop_view);
    };
  });
  app.add_subcommand("sql", "Print the database objects for review")->callback([&arguments] {
    arguments.verb = print_sql;
  });
  app.add_subcommand("status", "What the daemon does and what waits")->callback([&arguments] {
    arguments.verb = status;
  });
  app.add_subcommand("check", "Check configuration, database, rights, clocks and Redis")
      ->callback([&arguments] { arguments.verb = check; });
  add_close(app, arguments);
}

int run(const Arguments& arguments) {
  auto loaded = daemon::load_config(arguments.config_file, arguments.sets);
  if (const auto* errors = std::get_if<std::vector<ConfigError>>(&loaded)) {
    for (const ConfigError& error : *errors) std::cerr << to_string(error) << '\n';
    return kBadConfiguration;
  }
  Invocation invocation;
  invocation.config = std::get<ParsedConfig>(std::move(loaded)).config;
  invocation.url = arguments.url;
  invocation.json = arguments.json;
  return arguments.verb(invocation);
}

}  // namespace
}  // namespace order_timeout::ctl

int main(int argc, char** argv) {
  using namespace order_timeout;
  ctl::Arguments arguments;
  CLI::App app{"Operates order-timeoutd."};
  app.fallthrough();
  app.add_option("--config", arguments.config_file, "Configuration file")->capture_default_str();
  app.add_option("--set", arguments.sets, "KEY=VALUE: overrides the file")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--url", arguments.url, "Connect with this instead of database.url");
  app.add_flag("--json", arguments.json, "JSON instead of text");
  app.set_version_flag("--version", "order-timeoutctl " ORDER_TIMEOUT_VERSION);
  ctl::add_verbs(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kBadUsage;
  }
  try {
    return ctl::run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "order-timeoutctl: " << error.what() << '\n';
    return kFailure;
  }
}
