// One log entry as one line of text or JSON. Pure: no clock, no file. Whatever stands in an entry,
// its line is a single line of valid UTF-8 without control or text-direction characters, and the
// JSON parses.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "order_timeout/config.hpp"
#include "order_timeout/time.hpp"

namespace order_timeout::telemetry {

enum class Level : std::uint8_t { trace, debug, info, warn, error };

// As the configuration spells it; nothing for another word.
std::optional<Level> parse_level(std::string_view word);

// "2026-11-30T17:48:46.123Z"; "infinity" and "-infinity" for kNever and kAlways; outside the years
// 0 to 9999, which RFC 3339 cannot say, milliseconds since the epoch as "@-62167219200001ms".
std::string format_instant(Instant instant);

// One key=value of an entry. `bare` values (numbers, true, false) stand without quotes in JSON.
struct Field {
  std::string key;
  std::string value;
  bool bare = false;

  Field(std::string name, std::string text);
  Field(std::string name, std::string_view text);
  Field(std::string name, const char* text);
  Field(std::string name, Instant instant);
  Field(std::string name, double number);
  template <std::same_as<bool> T>
  Field(std::string name, T flag)
      : key(std::move(name)), value(flag ? "true" : "false"), bare(true) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Field(std::string name, T number)
      : key(std::move(name)), value(std::to_string(number)), bare(true) {}
};
using Fields = std::vector<Field>;

struct Entry {
  Instant at{};  // of this host's wall clock: for people to read, nothing is decided by it
  Level level = Level::info;
  std::string component;
  std::string message;
  Fields fields;
  bool is_change = false;  // of a state: never folded
};

// Values longer than this are cut, at the end of a character, and end in "…".
inline constexpr std::size_t kValueBytesMax = 128;
inline constexpr std::size_t kMessageBytesMax = 512;

// The line with its '\n'. Text: "TIME LEVEL component: message key=value …", values in quotes where
// they are empty or hold a space, '=', '"', '\' or anything escaped. Escapes: \\ \" \n \r \t, \xNN
// for other control characters and bytes that are not UTF-8, \uNNNN for line separators, C1
// controls and text direction. JSON: one object with "ts", "level", "component", "message" and the
// fields; a byte that is not UTF-8 reads \xNN there too.
std::string format_line(const Entry& entry, LogFormat format);

// `text` cut and escaped as in a line, without quotes: safe wherever a single line of UTF-8 is
// wanted.
std::string printable(std::string_view text, std::size_t bytes_max);

}  // namespace order_timeout::telemetry
