#include <algorithm>
#include <string_view>

#include "core/config_path.hpp"
#include "core/config_reading.hpp"
#include "core/config_substitution.hpp"
#include "core/yaml_tree.hpp"

namespace order_timeout {
namespace {

// Comments and messages end with their line; a key or a file's name may hold anything.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  // yaml-cpp names the first byte of a character that it does not want.
  while (const auto at = first_invalid_utf8(text)) text[*at] = '?';
  return text;
}

void indent(std::string& text, std::size_t depth) { text.append(2 * depth, ' '); }

}  // namespace

std::string yaml_scalar(const std::string& text) { return yaml_quoted(without_substitution(text)); }

std::string print_config(const ParsedConfig& parsed) {
  std::string text;
  std::vector<std::string> open;  // sections that the last key stands in
  for (const ConfigValue& value : parsed.values) {
    const auto path = split_path(value.key).value_or(std::vector<std::string>{value.key});
    std::size_t depth = 0;
    while (depth < open.size() && depth + 1 < path.size() && open[depth] == path[depth]) ++depth;
    open.assign(path.begin(), path.end() - 1);
    for (; depth + 1 < path.size(); ++depth) {
      indent(text, depth);
      text += yaml_quoted(path[depth]) + ":\n";
    }
    indent(text, depth);
    text += yaml_quoted(path.back()) + ": " + value.value + "  # " + one_line(value.origin) + "\n";
  }
  return text;
}

std::string to_string(const ConfigError& error) {
  std::string text = error.source;
  if (error.line > 0) {
    text += ":" + std::to_string(error.line) + ":" + std::to_string(error.column);
  }
  if (!error.key.empty()) text += ": " + error.key;
  return one_line(text + ": " + error.message);
}

std::string event_type_of(const std::string& event_key_in_config) {
  std::string type = event_key_in_config;
  for (char& c : type) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return type;
}

}  // namespace order_timeout
