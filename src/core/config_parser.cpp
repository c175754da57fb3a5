#include "order_timeout/config_parser.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/config_path.hpp"
#include "core/config_reading.hpp"
#include "core/yaml_tree.hpp"

namespace order_timeout {
namespace {

constexpr std::string_view kEnvironmentPrefix = "ORDER_TIMEOUTD_SET__";
constexpr std::size_t kMostErrors = 200;

// One value from outside the file.
struct Override {
  std::vector<std::string> path;
  const std::string& value;
  Place place;
};

YamlNode empty_map(std::string key, const Place& place) {
  YamlNode node;
  node.key = std::move(key);
  node.place = place;
  node.key_place = place;
  return node;
}

// The node below `parent`, made where it is not there.
YamlNode& descend(YamlNode& parent, const std::string& key, const Place& place) {
  if (parent.kind != YamlNode::Kind::map) {
    YamlNode replaced = empty_map(parent.key, place);
    parent = std::move(replaced);
  }
  if (YamlNode* found = parent.find(key)) return *found;
  return parent.children.emplace_back(empty_map(key, place));
}

void apply(YamlNode& root, const Override& override, std::vector<ConfigError>& errors) {
  YamlDocument document = parse_yaml(override.value, override.place.origin, override.place.source);
  std::string key;
  for (const std::string& segment : override.path) key = join_path(key, segment);
  for (ConfigError& error : document.errors) {
    error.key = error.key.empty() ? key : key + "." + error.key;
    errors.push_back(std::move(error));
  }
  if (!document.errors.empty()) return;
  YamlNode* node = &root;
  for (const std::string& segment : override.path) node = &descend(*node, segment, override.place);
  YamlNode value = std::move(document.root);
  if (override.value.find_first_not_of(" \t\r\n") == std::string::npos) {
    value.kind = YamlNode::Kind::blank;
  }
  value.key = node->key;
  value.key_place = override.place;
  *node = std::move(value);
}

std::vector<std::string> split_variable(std::string_view name) {
  std::vector<std::string> path;
  name.remove_prefix(kEnvironmentPrefix.size());
  while (true) {
    const std::size_t end = name.find("__");
    path.emplace_back(name.substr(0, end));
    if (end == std::string_view::npos) return path;
    name.remove_prefix(end + 2);
  }
}

void apply_environment(YamlNode& root, const ConfigSources& sources,
                       std::vector<ConfigError>& errors) {
  for (const auto& [name, value] : sources.environment) {
    if (!name.starts_with(kEnvironmentPrefix)) continue;
    const Place place{Origin::environment, name, 0, 0};
    auto path = split_variable(name);
    if (std::any_of(path.begin(), path.end(), [](const auto& part) { return part.empty(); })) {
      errors.push_back(error_at(place, "", "the variable's name holds no key"));
      continue;
    }
    apply(root, Override{std::move(path), value, place}, errors);
  }
}

void apply_sets(YamlNode& root, const ConfigSources& sources, std::vector<ConfigError>& errors) {
  const Place place{Origin::command_line, "--set", 0, 0};
  for (const auto& [key, value] : sources.sets) {
    auto path = split_path(key);
    if (!path) {
      errors.push_back(error_at(place, key, "not a dotted key such as close.max_per_second"));
      continue;
    }
    apply(root, Override{std::move(*path), value, place}, errors);
  }
}

// Without the section there is one line, `default`; a line that --set or the environment adds does
// not remove it.
void add_default_line(YamlNode& root) {
  if (root.find("business_lines") != nullptr) return;
  YamlNode lines = empty_map("business_lines", Place{});
  lines.children.push_back(empty_map("default", Place{}));
  root.children.push_back(std::move(lines));
}

void check_has_line(const YamlNode& root, std::vector<ConfigError>& errors) {
  const YamlNode* lines = root.find("business_lines");
  if (lines == nullptr || lines->kind != YamlNode::Kind::map || !lines->children.empty()) return;
  errors.push_back(error_at(lines->key_place, "business_lines",
                            "lists no line; leave it out for the line `default`"));
}

// The lines of one file of the include directory join those of the main file.
void take_lines(YamlNode& root, YamlDocument document, std::vector<ConfigError>& errors) {
  const Place place = document.root.place;
  if (document.root.kind == YamlNode::Kind::blank) return;
  if (document.root.kind != YamlNode::Kind::map) {
    errors.push_back(error_at(place, "", "not a map of business lines"));
    return;
  }
  if (root.find("business_lines") == nullptr) {
    root.children.push_back(empty_map("business_lines", place));
  }
  YamlNode& lines = *root.find("business_lines");
  if (lines.kind != YamlNode::Kind::map) return;  // an error of the main file, reported there
  for (YamlNode& line : document.root.children) {
    if (const YamlNode* first = lines.find(line.key)) {
      errors.push_back(error_at(line.key_place, join_path("business_lines", line.key),
                                "the line stands twice, first in " +
                                    std::string{first->key_place.source} + ":" +
                                    std::to_string(first->key_place.line)));
    } else {
      lines.children.push_back(std::move(line));
    }
  }
}

void include_lines(YamlNode& root, const ConfigSources& sources, std::vector<ConfigError>& errors) {
  for (const auto& [name, text] : sources.line_files) {
    YamlDocument document = parse_yaml(text, Origin::file, name);
    if (document.errors.empty()) {
      take_lines(root, std::move(document), errors);
      continue;
    }
    for (ConfigError& error : document.errors) {
      if (!error.key.empty()) error.key = "business_lines." + error.key;
      errors.push_back(std::move(error));
    }
  }
}

// In the order of the file; the include directory's files follow, then what stands outside files.
void sort_by_place(std::vector<ConfigError>& errors, const std::string& file_name) {
  const auto place = [&](const ConfigError& error) {
    const bool outside = error.line == 0;
    return std::make_tuple(outside, !outside && error.source != file_name,
                           std::string_view{outside ? std::string_view{} : error.source},
                           error.line, error.column);
  };
  std::stable_sort(errors.begin(), errors.end(),
                   [&](const ConfigError& a, const ConfigError& b) { return place(a) < place(b); });
  if (errors.size() <= kMostErrors) return;
  const std::string more = std::to_string(errors.size() - kMostErrors) + " more errors";
  const std::string source = errors.front().source;
  errors.resize(kMostErrors);
  errors.push_back({source, 0, 0, "", more});
}

}  // namespace

std::variant<ParsedConfig, std::vector<ConfigError>> parse_config(const ConfigSources& sources) {
  const Origin origin = sources.is_snapshot ? Origin::snapshot : Origin::file;
  YamlDocument document = parse_yaml(sources.text, origin, sources.file_name);
  std::vector<ConfigError> errors = std::move(document.errors);
  if (errors.empty() && document.root.kind != YamlNode::Kind::map) {
    errors.push_back(error_at(document.root.place, "", "not a map of keys"));
  }
  include_lines(document.root, sources, errors);
  if (!errors.empty()) {
    sort_by_place(errors, sources.file_name);
    return errors;
  }
  std::string file_text = yaml_text(document.root);
  add_default_line(document.root);
  apply_environment(document.root, sources, errors);
  apply_sets(document.root, sources, errors);
  check_has_line(document.root, errors);
  ConfigReading reading = read_config(document.root, sources);
  std::vector<ConfigError> across = check_across(reading, sources.file_name);
  std::move(reading.errors.begin(), reading.errors.end(), std::back_inserter(errors));
  std::move(across.begin(), across.end(), std::back_inserter(errors));
  if (!errors.empty()) {
    sort_by_place(errors, sources.file_name);
    return errors;
  }
  return ParsedConfig{build_config(reading), std::move(reading.printed), std::move(file_text)};
}

}  // namespace order_timeout
