// YAML text as a tree in which every node knows where it was written. Only the plain part of YAML
// is legal: no anchors, aliases, merge keys, tags or second documents, no duplicate keys, bounded
// in size and depth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "order_timeout/config.hpp"

namespace order_timeout {

enum class Origin : std::uint8_t { standard, file, snapshot, environment, command_line };

// Where something was written; lines and columns count from 1 and are 0 outside a file. `source` is
// borrowed from the caller of parse_config.
struct Place {
  Origin origin = Origin::standard;
  std::string_view source;
  int line = 0;
  int column = 0;
};

struct YamlNode {
  enum class Kind : std::uint8_t { blank, null, scalar, sequence, map };
  Kind kind = Kind::map;
  Place place;
  std::string text;  // of a scalar
  std::string key;   // within a map
  Place key_place;
  std::vector<YamlNode> children;

  const YamlNode* find(std::string_view name) const;
  YamlNode* find(std::string_view name);
};

inline constexpr std::size_t kLargestText = 1'048'576;
inline constexpr std::size_t kDeepestNesting = 16;

struct YamlDocument {
  YamlNode root;  // as much as could be read where there are errors; an empty map for an empty text
  std::vector<ConfigError> errors;
};

// `origin` and `source` say whose text it is.
YamlDocument parse_yaml(const std::string& text, Origin origin, std::string_view source);

// The tree as YAML in block style that parse_yaml() reads as the same tree; `root` is a map.
std::string yaml_text(const YamlNode& root);

// A text as YAML takes it back, in quotes where it must be.
std::string yaml_quoted(const std::string& text);

ConfigError error_at(const Place& place, std::string key, std::string message);

// "file FILE:LINE", "snapshot FILE:LINE", "environment NAME", "command line", "default".
std::string describe(const Place& place);

}  // namespace order_timeout
