// Configurations for tests: a complete short file, and what the parser makes of a text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "order_timeout/config_parser.hpp"

namespace order_timeout::test {

// Four lines; nothing is missing.
inline const std::string kShort =
    "database: {url: \"postgresql:///shop\"}\n"
    "order_table: {name: t_order}\n"
    "events:\n"
    "  release_stock: {url: \"http://127.0.0.1:8081/stock\"}\n";

inline ConfigSources sources_of(std::string text) {
  ConfigSources sources;
  sources.file_name = "x.yaml";
  sources.text = std::move(text);
  return sources;
}

// One message a line.
inline std::string errors_of(const ConfigSources& sources) {
  const auto parsed = parse_config(sources);
  std::string text;
  if (const auto* errors = std::get_if<std::vector<ConfigError>>(&parsed)) {
    for (const ConfigError& error : *errors) text += to_string(error) + "\n";
  }
  return text;
}

inline ParsedConfig parsed(const ConfigSources& sources) {
  auto result = parse_config(sources);
  if (auto* good = std::get_if<ParsedConfig>(&result)) return std::move(*good);
  ADD_FAILURE() << errors_of(sources);
  return {};
}

inline Config config_of(const std::string& text) { return parsed(sources_of(text)).config; }

inline ConfigValue value_of(const ParsedConfig& from, const std::string& key) {
  for (const ConfigValue& value : from.values) {
    if (value.key == key) return value;
  }
  ADD_FAILURE() << "no value for " << key;
  return {};
}

}  // namespace order_timeout::test
