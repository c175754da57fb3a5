#include "daemon/rules.hpp"

#include <algorithm>
#include <utility>

namespace order_timeout::daemon {
namespace {

constexpr std::size_t kMostMistakes = 20;

// The changes of one line, or those that concern every line: "timeout 30m -> 10m, grace …".
std::string changes_of(const std::string& prefix, const std::vector<ConfigChange>& changes) {
  std::string text;
  for (const ConfigChange& change : changes) {
    if (!change.key.starts_with(prefix)) continue;
    text += (text.empty() ? " " : ", ") + change.key.substr(prefix.size()) + " " + change.before +
            " -> " + change.after;
  }
  return text;
}

// Both ways of writing a line's key: plain, or in quotes.
std::string line_changes(const std::string& line, const std::vector<ConfigChange>& changes) {
  const std::string plain = changes_of("business_lines." + line + ".", changes);
  return plain.empty() ? changes_of("business_lines.\"" + line + "\".", changes) : plain;
}

}  // namespace

RuleSet rules_of(const Config& config) {
  RuleSet rules;
  rules.lines = config.business_lines;
  rules.max_age = config.close_max_age;
  if (config.payment_check) rules.payment_max_delay = config.payment_check->max_delay;
  return rules;
}

boost::asio::awaitable<Result<std::int64_t>> put_rules_in_force(Context& context) {
  Context& c = context;
  RuleSet asked = rules_of(c.config);
  Result<DueByRules> due = co_await c.control.due_by_rules(std::move(asked));
  if (!due) co_return due.error();
  const std::string reason = too_many_due(*due, c.config.max_due_by_reload);
  if (!reason.empty()) {
    Pause pause;
    pause.scope = "all";
    pause.by = "order-timeoutd";
    pause.reason = "start: " + reason;
    Result<Done> paused = co_await c.control.pause(std::move(pause));
    if (!paused) co_return paused.error();
    c.metrics.guard_tripped("max_due_by_reload");
    c.log.error("guard", "closing is paused",
                {{"guard", "max_due_by_reload"},
                 {"cause", reason},
                 {"remedy", "look at the business lines; order-timeoutctl resume lets it go on"}});
    const std::vector<ConfigChange> none;
    for (const std::string& line : preview_lines(*due, none)) {
      c.log.warn("guard", "preview", {{"cause", line}});
    }
  }
  RuleSet rules = rules_of(c.config);
  co_return co_await c.control.apply_rules(std::move(rules));
}

std::vector<std::string> preview_lines(const DueByRules& due,
                                       const std::vector<ConfigChange>& changes) {
  std::vector<std::string> lines;
  for (const auto& [line, orders] : due.orders) {
    std::string changed = line_changes(line, changes);
    if (changed.empty()) changed = changes_of("business_lines.default.", changes);
    if (changed.empty()) changed = changes_of("close.", changes);
    lines.push_back(line + changed + ": " + with_thousands(orders) +
                    (orders == 1 ? " order" : " orders") + " due at once");
  }
  return lines;
}

std::string too_many_due(const DueByRules& due, std::int64_t most) {
  if (!due.counted) {
    return "the orders that would be due at once could not be counted within "
           "database.statement_timeout";
  }
  if (due.total <= most) return {};
  return with_thousands(due.total) +
         " orders would be due at once, more than guard.max_due_by_reload=" + std::to_string(most);
}

std::string with_thousands(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

void log_mistakes(telemetry::Log& log, const std::vector<ConfigError>& mistakes) {
  for (std::size_t i = 0; i < std::min(mistakes.size(), kMostMistakes); ++i) {
    const ConfigError& mistake = mistakes[i];
    telemetry::Fields fields{{"file", mistake.source}};
    if (mistake.line > 0) {
      fields.emplace_back("line", mistake.line);
      fields.emplace_back("column", mistake.column);
    }
    fields.emplace_back("key", mistake.key);
    fields.emplace_back("cause", mistake.message);
    log.error("config", "bad_config", std::move(fields));
  }
  if (mistakes.size() <= kMostMistakes) return;
  log.error("config", "more errors: order-timeoutd --check-config lists them all",
            {{"errors", static_cast<std::int64_t>(mistakes.size())}});
}

}  // namespace order_timeout::daemon
