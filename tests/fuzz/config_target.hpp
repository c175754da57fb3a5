// What must hold for any bytes as a configuration file: it is taken or refused with at least one
// message, each a single line of UTF-8 with its file; no secret is ever shown; and what is taken
// reads back, printed and as a snapshot, as the same configuration.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/config_path.hpp"
#include "order_timeout/config_parser.hpp"

namespace order_timeout::fuzz {

// Stands in the environment of every text that is tried.
inline const std::string kSecret = "s3cr3t-0f-the-fuzzer";

inline ConfigSources sources_of(const std::string& text) {
  ConfigSources sources;
  sources.file_name = "f.yaml";
  sources.text = text;
  sources.environment = {{"DB", "shop"}, {"SECRET", kSecret}};
  sources.read_file = [](const std::string&) -> Result<std::string> { return kSecret; };
  return sources;
}

// Empty: all holds.
inline std::string mistake_in_errors(const std::vector<ConfigError>& errors) {
  if (errors.empty()) return "refused without a word";
  for (const ConfigError& error : errors) {
    const std::string line = to_string(error);
    if (line.find('\n') != std::string::npos) return "a message of two lines: " + line;
    if (first_invalid_utf8(line)) return "a message that is not UTF-8: " + line;
    if (line.find(kSecret) != std::string::npos) return "a secret in a message: " + line;
    if (error.source.empty()) return "a message without its file: " + line;
    if (line.size() > 4'096) return "a message without end";
  }
  return {};
}

inline std::string mistake_in_parsed(const ParsedConfig& parsed) {
  const std::string printed = print_config(parsed);
  if (parsed.file_text.find(kSecret) != std::string::npos) return "a secret in the snapshot";
  const auto again = parse_config(sources_of(parsed.file_text));
  const auto* same = std::get_if<ParsedConfig>(&again);
  if (same == nullptr) return "the snapshot does not read back:\n" + parsed.file_text;
  if (same->config != parsed.config) return "the snapshot is another configuration";
  return {};
}

inline std::string mistake_with(const std::string& text) {
  if (text.find(kSecret) != std::string::npos) return {};  // who writes it down has no secret
  const auto result = parse_config(sources_of(text));
  if (const auto* errors = std::get_if<std::vector<ConfigError>>(&result)) {
    return mistake_in_errors(*errors);
  }
  return mistake_in_parsed(std::get<ParsedConfig>(result));
}

}  // namespace order_timeout::fuzz
