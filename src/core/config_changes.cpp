#include "order_timeout/config_changes.hpp"

#include <map>

#include "core/config_path.hpp"
#include "core/config_schema.hpp"
#include "core/fingerprint.hpp"

namespace order_timeout {
namespace {

const std::string kUnset = "unset";

// The row of a key of the file, nothing where there is none.
const SchemaRow* row_of(const std::string& key) {
  const SchemaNode* node = &schema_tree();
  const auto path = split_path(key);
  if (!path) return nullptr;
  for (const std::string& segment : *path) {
    node = node->child(segment);
    if (node == nullptr) return nullptr;
  }
  return node->row;
}

ConfigChange change_of(const std::string& key, std::string before, std::string after) {
  const SchemaRow* row = row_of(key);
  ConfigChange change{key, std::move(before), std::move(after), row != nullptr && row->restart};
  // A secret that changed looks the same: it is masked.
  if (change.before == change.after) change.after += " (changed)";
  return change;
}

}  // namespace

std::vector<ConfigChange> config_changes(const ParsedConfig& before, const ParsedConfig& after) {
  std::map<std::string, const ConfigValue*> old;
  for (const ConfigValue& value : before.values) old.emplace(value.key, &value);
  std::vector<ConfigChange> changes;
  for (const ConfigValue& value : after.values) {
    const auto found = old.find(value.key);
    if (found == old.end()) {
      changes.push_back(change_of(value.key, kUnset, value.value));
      continue;
    }
    if (found->second->fingerprint != value.fingerprint) {
      changes.push_back(change_of(value.key, found->second->value, value.value));
    }
    old.erase(found);
  }
  for (const auto& [key, value] : old) changes.push_back(change_of(key, value->value, kUnset));
  return changes;
}

std::string to_string(const ConfigChange& change) {
  return change.key + ": " + change.before + " -> " + change.after;
}

std::string config_hash(const ParsedConfig& parsed) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  Fingerprint print;
  for (const ConfigValue& value : parsed.values) {
    print.add(value.key);
    print.add(value.value);
  }
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(print.value() >> shift) & 0xFU];
  return text;
}

}  // namespace order_timeout
