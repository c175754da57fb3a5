#include <algorithm>
#include <array>

#include "core/yaml_tree.hpp"

namespace order_timeout {
namespace {

using Kind = YamlNode::Kind;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '/' || c == '-';
}

std::string escaped(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c == '"' || c == '\\') return std::string{'\\', c};
  if (byte >= 0x20 && byte != 0x7F) return std::string{c};
  return std::string{"\\x"} + kDigits[byte >> 4U] + kDigits[byte & 0xFU];
}

// On one line: a scalar, ~, or a list.
std::string flow_text(const YamlNode& node) {
  if (node.kind == Kind::scalar) return yaml_quoted(node.text);
  const bool is_list = node.kind == Kind::sequence;
  if (!is_list && node.kind != Kind::map) return "~";
  std::string text{is_list ? "[" : "{"};
  for (const YamlNode& child : node.children) {
    if (&child != &node.children.front()) text += ", ";
    if (!is_list) text += yaml_quoted(child.key) + ": ";
    text += flow_text(child);
  }
  return text + (is_list ? "]" : "}");
}

void write_block(std::string& text, const YamlNode& map, std::size_t depth) {
  for (const YamlNode& child : map.children) {
    text.append(2 * depth, ' ');
    text += yaml_quoted(child.key) + ":";
    if (child.kind == Kind::map && !child.children.empty()) {
      text += "\n";
      write_block(text, child, depth + 1);
    } else {
      text += " " + flow_text(child) + "\n";
    }
  }
}

}  // namespace

std::string yaml_quoted(const std::string& text) {
  static constexpr std::array<std::string_view, 3> kNull{"null", "Null", "NULL"};
  const bool plain = !text.empty() && text[0] != '-' &&
                     std::all_of(text.begin(), text.end(), is_plain) &&
                     std::find(kNull.begin(), kNull.end(), text) == kNull.end();
  if (plain) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += escaped(c);
  return quoted + '"';
}

std::string yaml_text(const YamlNode& root) {
  std::string text;
  write_block(text, root, 0);
  return text;
}

}  // namespace order_timeout
