#include "telemetry/line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

namespace order_timeout::telemetry {
namespace {

enum class Style : std::uint8_t { plain, quoted, json };  // message, value in quotes, JSON string

constexpr std::array<std::string_view, 5> kLevelWords{"trace", "debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 5> kLevelNames{"TRACE", "DEBUG", "INFO", "WARN", "ERROR"};
constexpr std::string_view kEllipsis = "…";

// A character at the front of a text: its code point, or nothing for a byte that begins none.
struct Character {
  std::size_t length = 1;
  std::optional<char32_t> code_point;
};

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// RFC 3629: shortest form only, no surrogates, nothing above U+10FFFF.
Character front_character(std::string_view text) {
  struct Shape {
    unsigned char mask, lead;
    std::size_t length;
    char32_t least;
  };
  constexpr std::array<Shape, 4> kShapes{{{0x80, 0x00, 1, 0},
                                          {0xE0, 0xC0, 2, 0x80},
                                          {0xF0, 0xE0, 3, 0x800},
                                          {0xF8, 0xF0, 4, 0x10000}}};
  const auto lead = static_cast<unsigned char>(text.front());
  const auto* const shape = std::find_if(
      kShapes.begin(), kShapes.end(), [lead](const Shape& s) { return (lead & s.mask) == s.lead; });
  if (shape == kShapes.end() || text.size() < shape->length) return {};
  char32_t code_point = lead & static_cast<unsigned char>(~shape->mask);
  for (const char c : text.substr(1, shape->length - 1)) {
    if (!is_continuation(c)) return {};
    code_point = (code_point << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  }
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < shape->least || surrogate || code_point > 0x10FFFF) return {};
  return {.length = shape->length, .code_point = code_point};
}

// Characters beyond ASCII that break a line, hide or turn the text round.
bool is_treacherous(char32_t c) {
  return (c >= 0x80 && c <= 0x9F) || c == 0x061C || c == 0x200E || c == 0x200F || c == 0x2028 ||
         c == 0x2029 || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

bool is_control(char32_t c) { return c < 0x20 || c == 0x7F; }

void append_hex(std::string& out, char32_t value, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
    out += kDigits[(value >> static_cast<unsigned>(shift)) & 0xFU];
  }
}

void append_control(std::string& out, char32_t c, Style style) {
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else {
    out += style == Style::json ? "\\u00" : "\\x";
    append_hex(out, c, 2);
  }
}

void append_character(std::string& out, std::string_view bytes, char32_t c, Style style) {
  if (is_control(c)) {
    append_control(out, c, style);
  } else if (is_treacherous(c)) {
    out += "\\u";
    append_hex(out, c, 4);
  } else if (c == '\\' || (c == '"' && style != Style::plain)) {
    out += '\\';
    out += static_cast<char>(c);
  } else {
    out += bytes;
  }
}

// Nearly all text is of characters that stand for themselves everywhere.
std::size_t plain_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && text[length] >= 0x20 && text[length] < 0x7F &&
         text[length] != '\\' && text[length] != '"') {
    ++length;
  }
  return length;
}

void append_escaped(std::string& out, std::string_view text, Style style) {
  while (!text.empty()) {
    if (const std::size_t length = plain_length(text); length > 0) {
      out += text.substr(0, length);
      text.remove_prefix(length);
      continue;
    }
    const Character next = front_character(text);
    if (next.code_point) {
      append_character(out, text.substr(0, next.length), *next.code_point, style);
    } else {
      out += style == Style::json ? "\\\\x" : "\\x";
      append_hex(out, static_cast<unsigned char>(text.front()), 2);
    }
    text.remove_prefix(next.length);
  }
}

// What of `text` fits in bytes_max without dividing a character.
std::string_view fitting(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && bytes_max - end < 3 && is_continuation(text[end])) --end;
  // Not a character but stray continuation bytes: divided anywhere.
  if (end == 0 || is_continuation(text[end])) end = bytes_max;
  return text.substr(0, end);
}

void append_cut(std::string& out, std::string_view text, std::size_t bytes_max, Style style) {
  const std::string_view kept = fitting(text, bytes_max);
  append_escaped(out, kept, style);
  if (kept.size() < text.size()) out += kEllipsis;
}

void append_text_value(std::string& out, std::string_view value) {
  std::string escaped;
  append_cut(escaped, value, kValueBytesMax, Style::quoted);
  const bool quotes = value.empty() || value.find_first_of(" =\"") != std::string_view::npos ||
                      escaped.find('\\') != std::string::npos;
  if (quotes) out += '"';
  out += escaped;
  if (quotes) out += '"';
}

// Keys are our own words; anything else in one would be a mistake, and must not break the line.
std::string key_of(const Field& field) {
  std::string key = field.key.substr(0, kValueBytesMax);
  for (char& c : key) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '.' || c == '-';
    if (!fine) c = '_';
  }
  constexpr std::array<std::string_view, 4> kTaken{"ts", "level", "component", "message"};
  const bool taken = std::find(kTaken.begin(), kTaken.end(), key) != kTaken.end();
  if (key.empty() || taken) key += '_';
  return key;
}

std::string text_line(const Entry& entry) {
  std::string line = format_instant(entry.at);
  line += ' ';
  line += kLevelNames.at(static_cast<std::size_t>(entry.level));
  line += ' ';
  append_cut(line, entry.component, kValueBytesMax, Style::plain);
  line += ':';
  if (!entry.message.empty()) line += ' ';
  append_cut(line, entry.message, kMessageBytesMax, Style::plain);
  for (const Field& field : entry.fields) {
    line += ' ';
    line += key_of(field);
    line += '=';
    append_text_value(line, field.value);
  }
  line += '\n';
  return line;
}

void append_json_member(std::string& out, std::string_view key, std::string_view value,
                        std::size_t bytes_max) {
  out += '"';
  out += key;
  out += "\":\"";
  append_cut(out, value, bytes_max, Style::json);
  out += '"';
}

std::string json_line(const Entry& entry) {
  std::string line = "{";
  append_json_member(line, "ts", format_instant(entry.at), kValueBytesMax);
  line += ',';
  const std::string_view level = kLevelNames.at(static_cast<std::size_t>(entry.level));
  append_json_member(line, "level", level, kValueBytesMax);
  line += ',';
  append_json_member(line, "component", entry.component, kValueBytesMax);
  line += ',';
  append_json_member(line, "message", entry.message, kMessageBytesMax);
  for (const Field& field : entry.fields) {
    line += ',';
    if (field.bare) {
      line += '"' + key_of(field) + "\":" + field.value;
    } else {
      append_json_member(line, key_of(field), field.value, kValueBytesMax);
    }
  }
  line += "}\n";
  return line;
}

void append_padded(std::string& out, std::int64_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  if (digits.size() < width) out.append(width - digits.size(), '0');
  out += digits;
}

std::string civil(std::int64_t ms) {
  using std::chrono::days;
  const std::chrono::sys_time<Duration> at{Duration{ms}};
  const auto midnight = std::chrono::floor<days>(at);
  const std::chrono::year_month_day date{midnight};
  const std::chrono::hh_mm_ss<Duration> time{at - midnight};
  std::string out;
  append_padded(out, static_cast<int>(date.year()), 4);
  out += '-';
  append_padded(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  append_padded(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  append_padded(out, time.hours().count(), 2);
  out += ':';
  append_padded(out, time.minutes().count(), 2);
  out += ':';
  append_padded(out, time.seconds().count(), 2);
  out += '.';
  append_padded(out, time.subseconds().count(), 3);
  out += 'Z';
  return out;
}

std::string number_text(double number) {
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                 std::chars_format::general, 9);
  return {buffer.data(), end.ptr};
}

}  // namespace

std::optional<Level> parse_level(std::string_view word) {
  const auto* const found = std::find(kLevelWords.begin(), kLevelWords.end(), word);
  if (found == kLevelWords.end()) return std::nullopt;
  return static_cast<Level>(found - kLevelWords.begin());
}

std::string format_instant(Instant instant) {
  constexpr std::int64_t kYear0 = -62'167'219'200'000;
  constexpr std::int64_t kYear10000 = 253'402'300'800'000;
  if (instant == kNever) return "infinity";
  if (instant == kAlways) return "-infinity";
  const std::int64_t ms = to_ms(instant);
  if (ms < kYear0 || ms >= kYear10000) return "@" + std::to_string(ms) + "ms";
  return civil(ms);
}

Field::Field(std::string name, std::string text) : key(std::move(name)), value(std::move(text)) {}
Field::Field(std::string name, std::string_view text) : key(std::move(name)), value(text) {}
Field::Field(std::string name, const char* text) : key(std::move(name)), value(text) {}
Field::Field(std::string name, Instant instant)
    : key(std::move(name)), value(format_instant(instant)) {}
Field::Field(std::string name, double number)
    : key(std::move(name)), value(number_text(number)), bare(std::isfinite(number)) {}

std::string format_line(const Entry& entry, LogFormat format) {
  return format == LogFormat::json ? json_line(entry) : text_line(entry);
}

std::string printable(std::string_view text, std::size_t bytes_max) {
  std::string out;
  append_cut(out, text, bytes_max, Style::plain);
  return out;
}

}  // namespace order_timeout::telemetry
