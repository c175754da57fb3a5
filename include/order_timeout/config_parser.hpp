// Text, --set arguments and environment in; a Config or every error in them out. Pure: files named
// by ${file:} are read through a function that the caller gives.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "order_timeout/config.hpp"

namespace order_timeout {

struct ConfigSources {
  std::string file_name;                                  // for messages
  std::string text;                                       // the file's content
  std::vector<std::pair<std::string, std::string>> sets;  // --set KEY=VALUE, in order
  std::map<std::string, std::string> environment;         // the whole environment
  // Content of the file behind ${file:PATH}, without its last newline; nothing where it cannot be
  // read.
  std::function<std::optional<std::string>(const std::string& path)> read_file;
};

// One effective value for --print-config.
struct ConfigValue {
  std::string key;     // dotted path
  std::string value;   // as YAML would take it; "***" in place of a secret
  std::string origin;  // default | file FILE:LINE | environment NAME | command line
};

struct ParsedConfig {
  Config config;
  std::vector<ConfigValue> values;  // every key, in the schema's order
};

// All errors at once, never empty when returned. O(size of the text). Refuses text over 1 MiB.
std::variant<ParsedConfig, std::vector<ConfigError>> parse_config(const ConfigSources& sources);

// The values as a YAML document with the origin of each behind it in a comment; secrets masked.
std::string print_config(const ParsedConfig& parsed);

}  // namespace order_timeout
