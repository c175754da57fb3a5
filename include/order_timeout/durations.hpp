// Durations, sizes and times of day as people write them, read and written. Pure; ASCII digits
// only, no blanks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "order_timeout/time.hpp"

namespace order_timeout {

// What is wrong with a text, in half a sentence: "a duration needs a unit: 30m".
struct TextMistake {
  std::string what;
};

// `500ms`, `15m`, `2h30m`, `7d`: whole numbers with the units d, h, m, s, ms, larger units first,
// each at most once. Never negative, at most 100 years.
std::variant<Duration, TextMistake> parse_duration(std::string_view text);

// The shortest text that parse_duration gives the same value for; "0s" for none. Requires a value
// >= 0.
std::string format_duration(Duration duration);

// `100MB`, `512KiB`: bytes, with the units B, KB, MB, GB (powers of 1,000) and KiB, MiB, GiB (of
// 1,024).
std::variant<std::int64_t, TextMistake> parse_size(std::string_view text);

// `03:00`: minutes since midnight.
std::variant<int, TextMistake> parse_time_of_day(std::string_view text);

// A whole number from `min` to `max`: digits, and a minus sign where negative ones are allowed.
struct IntegerRange {
  std::int64_t min = 0;
  std::int64_t max = 0;
};
std::variant<std::int64_t, TextMistake> parse_integer(std::string_view text, IntegerRange range);

}  // namespace order_timeout
