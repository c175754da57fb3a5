// The configuration from its sources: file, environment, command line. The reading part round the
// pure parser.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "order_timeout/config_parser.hpp"

namespace order_timeout::daemon {

inline const std::string kDefaultConfigFile = "/etc/order-timeoutd/order-timeoutd.yaml";

// "KEY=VALUE" as --set takes it, split at the first '='. Text without one, or with nothing before
// it, is an error.
std::variant<std::pair<std::string, std::string>, ConfigError> parse_set(const std::string& text);

// Reads the file and this process's environment and parses them. A file that cannot be read is one
// error among the others. Blocks on the file.
std::variant<ParsedConfig, std::vector<ConfigError>> load_config(
    const std::string& path, const std::vector<std::string>& sets);

}  // namespace order_timeout::daemon
