// The configuration from its sources: file, include directory, environment, command line, and the
// snapshot that stands in for a file that cannot be used. The reading part round the pure parser.
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

using ConfigOrErrors = std::variant<ParsedConfig, std::vector<ConfigError>>;

// Reads the file, business_lines.d/*.yaml beside it and this process's environment and parses them.
// What cannot be read, is empty or is no regular file is one error among the others. A file behind
// ${file:} that others may read is refused. Blocks on the files.
ConfigOrErrors load_config(const std::string& path, const std::vector<std::string>& sets);

struct LoadedConfig {
  ParsedConfig parsed;
  std::vector<ConfigError> mistakes;  // of the file; then `parsed` is the snapshot's

  bool from_snapshot() const { return !mistakes.empty(); }
};

// As load_config(); where the file has errors, the snapshot, read with the same environment and
// command line. The file's errors where there is no usable snapshot. The snapshot's path is that of
// the command line or the environment, else the default.
std::variant<LoadedConfig, std::vector<ConfigError>> load_config_or_snapshot(
    const std::string& path, const std::vector<std::string>& sets);

// What a person sees of a file that the snapshot stands in for, a line each.
std::string mistakes_text(const std::vector<ConfigError>& mistakes);

}  // namespace order_timeout::daemon
