// One value of the configuration: from text to the type and range that the schema asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/config_schema.hpp"
#include "order_timeout/durations.hpp"

namespace order_timeout {

// Integers, durations (ms), sizes (bytes), times of day (minutes) and booleans are integers.
// Nothing: ~.
using Value = std::variant<std::monostate, std::int64_t, std::string, std::vector<std::int64_t>,
                           std::vector<std::string>>;

// A scalar of the row's type, or one entry where the row's type is a list.
std::variant<Value, TextMistake> parse_value(const SchemaRow& row, const std::string& text);

// The entries of a list, parsed, as one value; their number and that none stands twice is checked.
std::variant<Value, TextMistake> list_of(const SchemaRow& row, std::vector<Value> entries);

// Equal for equal values, and hardly ever for others (FNV-1a).
std::uint64_t fingerprint(const Value& value);

// A name that the user chooses, in place of `*` below `section` (business_lines, events, headers).
std::optional<TextMistake> mistake_in_name(std::string_view section, std::string_view name);

}  // namespace order_timeout
