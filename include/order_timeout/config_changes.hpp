// What differs between two configurations, for previews, refusals and the log.
#pragma once

#include <string>
#include <vector>

#include "order_timeout/config_parser.hpp"

namespace order_timeout {

struct ConfigChange {
  std::string key;       // dotted path
  std::string before;    // as printed, secrets masked; "unset" where there was none
  std::string after;     // likewise
  bool restart = false;  // the daemon has to be started anew for it
};

// Keys whose values differ, however they are written, in the schema's order; then those that are
// gone. O(keys log keys).
std::vector<ConfigChange> config_changes(const ParsedConfig& before, const ParsedConfig& after);

// "KEY: BEFORE -> AFTER"
std::string to_string(const ConfigChange& change);

// A name for all values together, 16 hexadecimal digits. It does not know secrets.
std::string config_hash(const ParsedConfig& parsed);

}  // namespace order_timeout
