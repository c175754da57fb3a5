// order-timeoutctl: the operator's tool. One verb a call.
#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <regex>

#include "ctl/invocation.hpp"
#include "daemon/config_file.hpp"
#include "daemon/exit_code.hpp"
#include "order_timeout/durations.hpp"

namespace order_timeout::ctl {
namespace {

struct Arguments {
  std::string config_file = daemon::kDefaultConfigFile;
  std::vector<std::string> sets;
  std::string url;
  bool json = false;
  bool drop_view = false;
  CloseRequest close;
  PauseRequest pause;
  bool confirmed = false;
  bool takes_snapshot = false;  // the verb is of use although the configuration file is broken
  HoldRequest hold;
  HoldRequest unhold;
  ExtendRequest extend;
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

using PauseVerb = int (*)(const Invocation&, const PauseRequest&);

void add_pause(CLI::App& app, Arguments& arguments, const std::string& name, PauseVerb does) {
  PauseRequest& request = arguments.pause;
  const bool pauses = name == "pause";
  CLI::App* verb = app.add_subcommand(
      name, pauses ? "Let closing, a business line or an event rest" : "End a pause");
  CLI::Option* line =
      verb->add_option("--business-line", request.business_line, "Only this business line");
  CLI::Option* event =
      verb->add_option("--event", request.event, "Only the delivery of this event");
  line->excludes(event);
  if (pauses) {
    verb->add_option("--until", request.until, "Until then (RFC 3339); else until it is resumed")
        ->check(mistake_in_time);
  }
  verb->add_option("--reason", request.reason, "Why")->required(pauses)->check(mistake_in_reason);
  verb->callback([&arguments, does] {
    arguments.takes_snapshot = true;
    arguments.verb = [&arguments, does](const Invocation& invocation) {
      return does(invocation, arguments.pause);
    };
  });
}

void add_reload(CLI::App& app, Arguments& arguments) {
  CLI::App* verb =
      app.add_subcommand("reload", "Let the daemon take its configuration anew, all or nothing");
  verb->add_flag("--confirm", arguments.confirmed,
                 "Also where more orders become due at once than guard.max_due_by_reload");
  verb->callback([&arguments] {
    arguments.takes_snapshot = true;
    arguments.verb = [&arguments](const Invocation& invocation) {
      return reload(invocation, arguments.confirmed);
    };
  });
}

std::string mistake_in_duration(const std::string& text) {
  const auto duration = parse_duration(text);
  const auto* mistake = std::get_if<TextMistake>(&duration);
  return mistake == nullptr ? "" : mistake->what;
}

void add_hold(CLI::App& app, Arguments& arguments) {
  HoldRequest& request = arguments.hold;
  CLI::App* verb = app.add_subcommand("hold", "Keep orders from being closed; `hold list`");
  CLI::App* list =
      verb->add_subcommand("list", "The orders that are held, why, by whom, since when");
  verb->require_subcommand(0, 1);
  CLI::Option* numbers = verb->add_option("ORDER_NO", request.order_nos, "Order numbers");
  CLI::Option* reason = verb->add_option("--reason", request.reason, "Why; kept with the record")
                            ->check(mistake_in_reason);
  verb->callback([&arguments, list, numbers, reason] {
    if (list->parsed()) {
      arguments.verb = list_held;
      return;
    }
    if (numbers->empty()) throw CLI::RequiredError("hold: ORDER_NO or list");
    if (reason->empty()) throw CLI::RequiredError("--reason");
    arguments.verb = [&arguments](const Invocation& invocation) {
      return hold(invocation, arguments.hold);
    };
  });
}

void add_unhold(CLI::App& app, Arguments& arguments) {
  HoldRequest& request = arguments.unhold;
  CLI::App* verb = app.add_subcommand("unhold", "Let held orders be judged anew");
  CLI::Option* numbers = verb->add_option("ORDER_NO", request.order_nos, "Order numbers");
  CLI::Option* by = verb->add_option("--by", request.held_by,
                                     "Instead of numbers: what this one holds, as payment_check");
  CLI::Option* all = verb->add_flag("--all", request.all, "With --by: all of them");
  by->excludes(numbers)->needs(all);
  all->needs(by);
  verb->add_option("--reason", request.reason, "Why; kept with the record")
      ->required()
      ->check(mistake_in_reason);
  verb->callback([&arguments, numbers, by] {
    if (numbers->empty() && by->empty()) {
      throw CLI::RequiredError("unhold: ORDER_NO, or --by NAME --all,");
    }
    arguments.verb = [&arguments](const Invocation& invocation) {
      return unhold(invocation, arguments.unhold);
    };
  });
}

void add_extend(CLI::App& app, Arguments& arguments) {
  ExtendRequest& request = arguments.extend;
  CLI::App* verb = app.add_subcommand("extend", "Give an order another pay deadline");
  verb->add_option("ORDER_NO", request.order_no, "The order's number")->required();
  CLI::Option* longer =
      verb->add_option("--by", request.longer,
                       "By so much (10m), from its deadline or, where that has passed, from now")
          ->check(mistake_in_duration);
  CLI::Option* until = verb->add_option("--until", request.until, "Until then (RFC 3339)")
                           ->check(mistake_in_time)
                           ->excludes(longer);
  verb->add_option("--reason", request.reason, "Why; kept with the record")
      ->required()
      ->check(mistake_in_reason);
  verb->callback([&arguments, longer, until] {
    if (longer->empty() && until->empty()) throw CLI::RequiredError("extend: --by or --until");
    arguments.verb = [&arguments](const Invocation& invocation) {
      return extend(invocation, arguments.extend);
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
    arguments.takes_snapshot = true;
    arguments.verb = status;
  });
  app.add_subcommand("check", "Check configuration, database, rights, clocks and Redis")
      ->callback([&arguments] { arguments.verb = check; });
  add_close(app, arguments);
  add_pause(app, arguments, "pause", pause);
  add_pause(app, arguments, "resume", resume);
  add_reload(app, arguments);
  add_hold(app, arguments);
  add_unhold(app, arguments);
  add_extend(app, arguments);
}

int run(const Arguments& arguments) {
  auto loaded = daemon::load_config_or_snapshot(arguments.config_file, arguments.sets);
  const auto* errors = std::get_if<std::vector<ConfigError>>(&loaded);
  auto* found = std::get_if<daemon::LoadedConfig>(&loaded);
  if (found != nullptr && found->from_snapshot()) errors = &found->mistakes;
  if (errors != nullptr) std::cerr << daemon::mistakes_text(*errors);
  if (found == nullptr || (errors != nullptr && !arguments.takes_snapshot)) {
    return kBadConfiguration;
  }
  Invocation invocation;
  invocation.config = std::move(found->parsed.config);
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
