#include "core/config_reading.hpp"

#include <algorithm>
#include <utility>

#include "core/config_path.hpp"
#include "core/config_substitution.hpp"
#include "core/config_urls.hpp"

namespace order_timeout {
namespace {

using Kind = YamlNode::Kind;

constexpr std::size_t kMostNames = 1'000;
constexpr std::size_t kMostErrors = 1'000;  // then names are checked no more

// One key: what the file says of it, what the line `default` says, and the section that it belongs
// to.
struct Spot {
  const YamlNode* node = nullptr;
  const YamlNode* inherited = nullptr;
  const YamlNode* section = nullptr;
  std::string path;
};

// A value as parsed and as shown, and all that is wrong with it.
struct Leaf {
  std::optional<Value> value;
  std::string shown;
  std::vector<ConfigError> errors;
};

std::string_view name_of(Kind kind) {
  if (kind == Kind::map) return "a section";
  return kind == Kind::sequence ? "a list" : "a single value";
}

class Reader {
 public:
  explicit Reader(const ConfigSources& sources) : sources_(sources) {}

  ConfigReading read(const YamlNode& root) {
    Spot spot{&root, nullptr, &root, ""};
    visit_section(schema_tree(), spot);
    return std::move(reading_);
  }

 private:
  void visit_section(const SchemaNode& schema, const Spot& spot) {
    if (spot.node != nullptr) check_names(schema, spot);
    for (const SchemaNode& child : schema.children) {
      if (child.segment == "*") {
        visit_named(child, spot);
        continue;
      }
      const auto below = [&](const YamlNode* node) {
        return node == nullptr ? nullptr : node->find(child.segment);
      };
      visit(child, Spot{below(spot.node), below(spot.inherited), spot.node,
                        join_path(spot.path, child.segment)});
    }
  }

  // Below business_lines, events and headers.
  void visit_named(const SchemaNode& child, const Spot& spot) {
    if (spot.node == nullptr) return;
    if (spot.node->children.size() > kMostNames) {
      fail(spot.node->key_place, spot.path, "more than 1000 names");
      return;
    }
    for (const YamlNode& entry : spot.node->children) {
      if (&entry != spot.node->find(entry.key)) continue;  // a duplicate, reported already
      const bool inherits = spot.path == "business_lines" && entry.key != "default";
      const YamlNode* inherited = inherits ? spot.node->find("default") : nullptr;
      remember_name(spot.path, entry.key);
      visit(child, Spot{&entry, inherited, spot.node, join_path(spot.path, entry.key)});
    }
  }

  void remember_name(const std::string& section, const std::string& name) {
    if (section == "business_lines") {
      reading_.lines.push_back(name);
    } else if (section == "events") {
      reading_.events[name];
    } else if (const auto path = split_path(section); path && path->size() == 3) {
      reading_.events[path->at(1)].push_back(name);  // events.NAME.headers
    }
  }

  void check_names(const SchemaNode& schema, const Spot& spot) {
    for (const YamlNode& entry : spot.node->children) {
      if (reading_.errors.size() > kMostErrors) return;
      const SchemaNode* child = schema.child(entry.key);
      if (child == nullptr) {
        unknown(schema, spot, entry);
      } else if (child->segment == "*") {
        if (const auto mistake = mistake_in_name(schema.segment, entry.key)) {
          fail(entry.key_place, join_path(spot.path, entry.key), mistake->what);
        }
      }
    }
  }

  void unknown(const SchemaNode& schema, const Spot& spot, const YamlNode& entry) {
    std::vector<std::string_view> known;
    for (const SchemaNode& child : schema.children) known.push_back(child.segment);
    std::string message = "unknown key";
    if (const auto meant = nearest(entry.key, known)) {
      message += ", did you mean " + *meant + "?";
    } else {
      message += "; known here: ";
      for (const std::string_view name : known) {
        message += std::string{name} + (name == known.back() ? "" : ", ");
      }
    }
    fail(entry.key_place, join_path(spot.path, entry.key), std::move(message));
  }

  void visit(const SchemaNode& schema, const Spot& spot) {
    if (schema.row != nullptr && !schema.row->built) {
      visit_unbuilt(*schema.row, spot);
    } else if (schema.children.empty()) {
      visit_leaf(*schema.row, spot);
    } else if (spot.node != nullptr && spot.node->kind == Kind::blank) {
      fail(spot.node->place, spot.path, "is left blank; allowed: a section of keys");
    } else if (spot.node != nullptr && spot.node->kind == Kind::null && schema.row != nullptr &&
               schema.row->nullable) {
      print(spot.path, "~", spot.node->place, Value{});
    } else if (spot.node != nullptr && spot.node->kind != Kind::map) {
      const std::string found =
          spot.node->kind == Kind::null ? "~" : std::string{name_of(spot.node->kind)};
      fail(spot.node->place, spot.path, "found " + found + "; allowed: a section of keys");
    } else if (spot.node != nullptr || schema.row == nullptr) {
      visit_section(schema, spot);
    }  // else an optional section that is not there
  }

  // A feature that is not built: its keys are legal at their default, lest someone relies on them.
  void visit_unbuilt(const SchemaRow& row, const Spot& spot) {
    const std::string standard{row.standard.value_or("")};
    const Place place = spot.node == nullptr ? Place{} : spot.node->place;
    if (row.standard) print(spot.path, standard, place, Value{standard});
    if (spot.node == nullptr) return;
    if (spot.node->kind == Kind::blank) {
      fail(spot.node->place, spot.path, "is left blank; leave it out");
      return;
    }
    if (row.standard && is_standard(row, *spot.node)) return;
    std::string message = "not in this version; leave it out";
    if (row.standard) message += " or at its default, " + standard;
    fail(spot.node->place, spot.path, std::move(message));
  }

  bool is_standard(const SchemaRow& row, const YamlNode& node) const {
    if (node.kind == Kind::null) return row.nullable;
    if (node.kind != Kind::scalar || row.type == ValueType::section) return false;
    const Leaf found = parse_leaf(row, node, "");
    return found.value && *found.value == standard_value(row);
  }

  void visit_leaf(const SchemaRow& row, const Spot& spot) {
    if (spot.node != nullptr) {
      Leaf leaf = parse_leaf(row, *spot.node, spot.path);
      reading_.errors.insert(reading_.errors.end(), leaf.errors.begin(), leaf.errors.end());
      keep(spot.path, std::move(leaf), spot.node->place);
    } else if (spot.inherited != nullptr) {
      keep(spot.path, parse_leaf(row, *spot.inherited, spot.path), spot.inherited->place);
    } else if (row.required) {
      fail(section_place(spot), spot.path, "is required; allowed: " + allowed_text(row));
    } else if (row.standard) {
      Value value = standard_value(row);
      print(spot.path, std::string{*row.standard}, Place{}, value);
      reading_.values.emplace(spot.path, Reading{std::move(value), Place{}});
    }
  }

  Place section_place(const Spot& spot) const {
    const bool written = spot.section != nullptr && !spot.section->key.empty();
    return written ? spot.section->key_place : Place{Origin::file, sources_.file_name, 0, 0};
  }

  void keep(const std::string& path, Leaf leaf, const Place& place) {
    if (!leaf.value) return;
    print(path, std::move(leaf.shown), place, *leaf.value);
    reading_.values.emplace(path, Reading{std::move(*leaf.value), place});
  }

  static Value standard_value(const SchemaRow& row) {
    if (row.nullable && *row.standard == "~") return {};
    const YamlDocument document =
        parse_yaml(std::string{*row.standard}, Origin::standard, "default");
    const ConfigSources nothing;
    return Reader{nothing}.parse_leaf(row, document.root, std::string{row.key}).value.value();
  }

  Leaf parse_leaf(const SchemaRow& row, const YamlNode& node, const std::string& path) const {
    Leaf leaf;
    const auto reject = [&](std::string message) {
      message += "; allowed: " + allowed_text(row);
      leaf.errors.push_back(error_at(node.place, path, std::move(message)));
      return std::move(leaf);
    };
    if (node.kind == Kind::blank) return reject("is left blank");
    if (node.kind == Kind::null) {
      if (!row.nullable) return reject("found ~");
      leaf.value.emplace();
      leaf.shown = "~";
      return leaf;
    }
    if (is_list(row.type)) {
      if (node.kind != Kind::sequence) return reject("found " + std::string{name_of(node.kind)});
      return parse_list(row, node, path);
    }
    if (node.kind != Kind::scalar) return reject("found " + std::string{name_of(node.kind)});
    return parse_scalar(row, node, path);
  }

  Leaf parse_list(const SchemaRow& row, const YamlNode& node, const std::string& path) const {
    Leaf leaf;
    std::vector<Value> entries;
    leaf.shown = "[";
    for (const YamlNode& child : node.children) {
      if (child.kind != Kind::scalar) {
        leaf.errors.push_back(
            error_at(child.place, path, "an entry of the list is no single value"));
        continue;
      }
      Leaf entry = parse_scalar(row, child, path);
      leaf.errors.insert(leaf.errors.end(), entry.errors.begin(), entry.errors.end());
      if (!entry.value) continue;
      leaf.shown += (entries.empty() ? "" : ", ") + entry.shown;
      entries.push_back(std::move(*entry.value));
    }
    leaf.shown += "]";
    if (!leaf.errors.empty()) return leaf;
    auto list = list_of(row, std::move(entries));
    if (auto* value = std::get_if<Value>(&list)) {
      leaf.value = std::move(*value);
    } else {
      leaf.errors.push_back(error_at(
          node.place, path, std::get<TextMistake>(list).what + "; allowed: " + allowed_text(row)));
    }
    return leaf;
  }

  // What was found is shown as it was written: what a variable or a file holds never is.
  Leaf parse_scalar(const SchemaRow& row, const YamlNode& node, const std::string& path) const {
    Leaf leaf;
    const Substituted substituted = substitute(node.text, sources_);
    for (const std::string& mistake : substituted.mistakes) {
      leaf.errors.push_back(error_at(node.place, path, mistake));
    }
    if (!leaf.errors.empty()) return leaf;
    auto parsed = parse_value(row, substituted.text);
    if (const auto* mistake = std::get_if<TextMistake>(&parsed)) {
      const std::string found =
          row.secret ? "a value that is not shown" : quoted_for_message(node.text);
      leaf.errors.push_back(
          error_at(node.place, path,
                   "found " + found + ": " + mistake->what + "; allowed: " + allowed_text(row)));
      return leaf;
    }
    leaf.value = std::get<Value>(std::move(parsed));
    leaf.shown = yaml_scalar(shown(row, substituted));
    return leaf;
  }

  static std::string shown(const SchemaRow& row, const Substituted& value) {
    if (row.type == ValueType::header_value) return "***";
    if (!row.secret) return value.shown;
    return mask_passwords(value.is_file ? value.text : value.shown);
  }

  void fail(const Place& place, std::string path, std::string message) {
    reading_.errors.push_back(error_at(place, std::move(path), std::move(message)));
  }
  void print(const std::string& path, std::string shown, const Place& place, const Value& value) {
    reading_.printed.push_back({path, std::move(shown), describe(place), fingerprint(value)});
  }

  const ConfigSources& sources_;
  ConfigReading reading_;
};

}  // namespace

ConfigReading read_config(const YamlNode& root, const ConfigSources& sources) {
  return Reader{sources}.read(root);
}

}  // namespace order_timeout
