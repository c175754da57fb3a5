// Text, --set arguments and environment in; a Config or every error in them out. Pure: files named
// by ${file:} are read through a function that the caller gives.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "order_timeout/config.hpp"
#include "order_timeout/outcome.hpp"

namespace order_timeout {

struct ConfigSources {
  std::string file_name;     // for messages
  std::string text;          // the file's content
  bool is_snapshot = false;  // the file is the snapshot of an earlier one
  // Files of the include directory, name and content: each a map of business lines.
  std::vector<std::pair<std::string, std::string>> line_files;
  std::vector<std::pair<std::string, std::string>> sets;  // --set KEY=VALUE, in order
  std::map<std::string, std::string> environment;         // the whole environment
  // Content of the file behind ${file:PATH}, without its last newline; the failure's detail says
  // why there is none: "cannot be read".
  std::function<Result<std::string>(const std::string& path)> read_file;
};

// One effective value for --print-config.
struct ConfigValue {
  std::string key;     // dotted path
  std::string value;   // as YAML would take it; "***" in place of a secret
  std::string origin;  // default | file FILE:LINE | snapshot … | environment NAME | command line
  std::uint64_t fingerprint = 0;  // of the value itself, a secret's too: tells that it changed
};

struct ParsedConfig {
  Config config;
  std::vector<ConfigValue> values;  // every key, in the schema's order
  // What file and include directory say, as one YAML text without comments, ${…} as it was written.
  std::string file_text;
};

// All errors at once, never empty when returned. O(size of the text). Refuses a text over 1 MiB.
std::variant<ParsedConfig, std::vector<ConfigError>> parse_config(const ConfigSources& sources);

// The values as a YAML document with the origin of each behind it in a comment; secrets masked.
std::string print_config(const ParsedConfig& parsed);

}  // namespace order_timeout
