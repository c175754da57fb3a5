// The business lines of a configuration on their way into the database, and what people are told
// of their effect.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "daemon/context.hpp"
#include "order_timeout/config_changes.hpp"

namespace order_timeout::daemon {

RuleSet rules_of(const Config& config);

// At start: puts the configured rules in force; their revision. Where they make more orders due at
// once than guard.max_due_by_reload, closing is paused before, until somebody resumes it.
boost::asio::awaitable<Result<std::int64_t>> put_rules_in_force(Context& context);

// A line each: "flash_sale timeout 30m -> 10m: 1,240 orders due at once".
std::vector<std::string> preview_lines(const DueByRules& due,
                                       const std::vector<ConfigChange>& changes);

// Why the guard stops it: too many orders due at once, or too many to count. Empty: it does not.
std::string too_many_due(const DueByRules& due, std::int64_t most);

// "1,240"
std::string with_thousands(std::int64_t number);

// One line of the log for each, bounded.
void log_mistakes(telemetry::Log& log, const std::vector<ConfigError>& mistakes);

}  // namespace order_timeout::daemon
