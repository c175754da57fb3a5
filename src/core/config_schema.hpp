// The one table of the configuration: every key with its type, default, range and sentence. The
// parser, the printed configuration, the example file and the README follow it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace order_timeout {

enum class ValueType : std::uint8_t {
  section,       // keys below it
  text,          // not empty, no control characters
  postgres_url,  // libpq URI or key=value string
  redis_url,     // redis://... or unix:///path
  event_url,     // judged with the event's sink
  table_name,    // [schema.]table
  column_name,   // 1 to 63 bytes
  time_zone,     // a name of the tz database
  path,          // absolute
  address,       // host:port
  time_of_day,   // HH:MM
  word,          // one of `words`
  number,        // decimal digits with a point
  boolean,       // true | false
  integer,       // min..max
  duration,      // min..max in ms
  size,          // min..max in bytes
  header_value,  // one line
  text_list,
  column_list,
  event_list,     // keys of `events`
  integer_list,   // each min..max
  duration_list,  // each min..max in ms
};

// A key's path has `*` where the user chooses a name: business_lines.*.timeout. `allowed` sentences
// follow from type, range and words (allowed_text).
struct SchemaRow {
  std::string_view key;
  ValueType type = ValueType::text;
  std::optional<std::string_view> standard;  // the default, as YAML; nothing: none
  std::string_view sentence;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::size_t fewest = 0;  // entries of a list
  std::size_t most = 50;
  std::string_view words;  // "a|b|c"
  bool required = false;   // where its section is there
  bool nullable = false;   // ~ is legal
  bool restart = false;    // a change needs a restart
  bool secret = false;     // never shown in messages, masked in print
  bool built = true;       // false: "not in this version", legal at its default only
};

// Every key of the configuration, sections before what stands below them.
std::span<const SchemaRow> schema_rows();

// What is legal for the row, as a message says it: "a duration from 1s to 400d".
std::string allowed_text(const SchemaRow& row);

// The schema as the tree that a configuration is.
struct SchemaNode {
  std::string_view segment;  // "*" stands for names that the user chooses
  const SchemaRow* row = nullptr;
  std::vector<SchemaNode> children;

  const SchemaNode* child(
      std::string_view name) const;  // nothing for an unknown name; `*` takes any
};
const SchemaNode& schema_tree();

bool is_list(ValueType type);

// A JSON Schema (draft-07) of the file, for editors: config/order-timeoutd.schema.json.
std::string json_schema();

// The README's reference: one table, a row a key, between the markers below (markers included).
std::string markdown_reference();
inline constexpr std::string_view kReferenceBegin = "<!-- config-reference:begin -->";
inline constexpr std::string_view kReferenceEnd = "<!-- config-reference:end -->";

}  // namespace order_timeout
