// The tree of a configuration held against the schema: every key's value with the place it comes
// from, or what is wrong with it. Keys that the schema does not know, values it does not allow and
// required keys that are missing are errors; what is missing otherwise has its default, or for a
// business line what `default` says.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/config_values.hpp"
#include "core/yaml_tree.hpp"
#include "order_timeout/config_parser.hpp"

namespace order_timeout {

struct Reading {
  Value value;
  Place place;
};

struct ConfigReading {
  std::map<std::string, Reading>
      values;                        // by dotted path; what has errors or no value is not there
  std::vector<ConfigValue> printed;  // in the schema's order
  std::vector<std::string> lines;    // names in business_lines
  std::map<std::string, std::vector<std::string>> events;  // names in events, with their headers
  std::vector<ConfigError> errors;
};

// `root` is a map.
ConfigReading read_config(const YamlNode& root, const ConfigSources& sources);

// What must hold between values. Needs only values that are there.
std::vector<ConfigError> check_across(const ConfigReading& reading, const std::string& file_name);

// Requires a reading without errors.
Config build_config(const ConfigReading& reading);

// A text as YAML takes it back, quoted where it must be; ${ is kept from being substituted.
std::string yaml_scalar(const std::string& text);

}  // namespace order_timeout
