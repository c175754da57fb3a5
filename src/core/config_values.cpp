#include "core/config_values.hpp"

#include <date/tz.h>

#include <algorithm>
#include <exception>
#include <set>
#include <string_view>

#include "core/config_urls.hpp"
#include "core/fingerprint.hpp"

namespace order_timeout {
namespace {

constexpr std::size_t kLongestText = 4'096;
constexpr std::size_t kLongestName = 63;  // PostgreSQL's NAMEDATALEN - 1

using Parsed = std::variant<Value, TextMistake>;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

bool is_token_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;  // RFC 9110, 5.6.2
}

// Statements and status words may span lines; nothing else may.
std::optional<TextMistake> mistake_in_text(std::string_view text) {
  if (text.empty()) return TextMistake{"an empty text"};
  if (text.size() > kLongestText) return TextMistake{"longer than 4096 bytes"};
  const auto forbidden = [](char c) { return is_control(c) && c != '\n' && c != '\t'; };
  if (std::any_of(text.begin(), text.end(), forbidden)) return TextMistake{"a control character"};
  return std::nullopt;
}

std::optional<TextMistake> mistake_in_line(std::string_view text) {
  if (const auto mistake = mistake_in_text(text)) return mistake;
  if (std::any_of(text.begin(), text.end(), is_control)) return TextMistake{"more than one line"};
  return std::nullopt;
}

std::optional<TextMistake> mistake_in_identifier(std::string_view text) {
  if (text.empty()) return TextMistake{"an empty name"};
  if (text.size() > kLongestName) return TextMistake{"longer than 63 bytes"};
  if (std::any_of(text.begin(), text.end(), is_control)) return TextMistake{"a control character"};
  return std::nullopt;
}

std::optional<TextMistake> mistake_in_table(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return mistake_in_identifier(text);
  if (text.find('.', dot + 1) != std::string_view::npos) return TextMistake{"more than one dot"};
  if (const auto mistake = mistake_in_identifier(text.substr(0, dot))) return mistake;
  return mistake_in_identifier(text.substr(dot + 1));
}

std::optional<TextMistake> mistake_in_time_zone(const std::string& text) {
  if (text == "UTC") return std::nullopt;
  try {
    date::locate_zone(text);
    return std::nullopt;
  } catch (const std::exception&) {
    return TextMistake{"no time zone that this system knows"};
  }
}

std::optional<TextMistake> mistake_in_path(std::string_view text) {
  if (const auto mistake = mistake_in_line(text)) return mistake;
  if (!text.starts_with('/')) return TextMistake{"not an absolute path"};
  return std::nullopt;
}

std::optional<TextMistake> mistake_in_event_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  const bool legal = !text.empty() && text.size() <= kLongestName && text[0] >= 'a' &&
                     std::all_of(text.begin(), text.end(), fits);
  if (legal) return std::nullopt;
  return TextMistake{"an event's name has a-z, 0-9 and _, begins with a letter, at most 63"};
}

std::optional<TextMistake> mistake_in_header_name(std::string_view name) {
  if (name.empty() || name.size() > 128 ||
      !std::all_of(name.begin(), name.end(), is_token_character)) {
    return TextMistake{"not the name of an HTTP header"};
  }
  std::string lowered{name};
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const std::string_view ours : {"host", "content-type", "content-length", "idempotency-key",
                                      "transfer-encoding", "connection", "expect", "upgrade"}) {
    if (lowered == ours) return TextMistake{"this header is set by the daemon"};
  }
  return std::nullopt;
}

bool is_decimal(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::string_view whole = text.substr(0, point);
  const std::string_view part = point == std::string_view::npos ? "0" : text.substr(point + 1);
  return !whole.empty() && !part.empty() && std::all_of(whole.begin(), whole.end(), is_digit) &&
         std::all_of(part.begin(), part.end(), is_digit);
}

bool is_one_of(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('|'), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

Parsed in_range(std::int64_t value, const SchemaRow& row) {
  const bool bounded = row.max != 0;
  if (bounded && value < row.min) return TextMistake{"too small"};
  if (bounded && value > row.max) return TextMistake{"too large"};
  return Value{value};
}

Parsed text_or(std::optional<TextMistake> mistake, const std::string& text) {
  if (mistake) return std::move(*mistake);
  return Value{text};
}

Parsed parse_number(const SchemaRow& row, const std::string& text) {
  if (row.type == ValueType::duration || row.type == ValueType::duration_list) {
    const auto parsed = parse_duration(text);
    if (const auto* mistake = std::get_if<TextMistake>(&parsed)) return *mistake;
    return in_range(std::get<Duration>(parsed).count(), row);
  }
  if (row.type == ValueType::size) {
    const auto parsed = parse_size(text);
    if (const auto* mistake = std::get_if<TextMistake>(&parsed)) return *mistake;
    return in_range(std::get<std::int64_t>(parsed), row);
  }
  if (row.type == ValueType::time_of_day) {
    const auto parsed = parse_time_of_day(text);
    if (const auto* mistake = std::get_if<TextMistake>(&parsed)) return *mistake;
    return Value{static_cast<std::int64_t>(std::get<int>(parsed))};
  }
  constexpr std::int64_t kAny = std::int64_t{1} << 53U;
  const IntegerRange range = row.max == 0 ? IntegerRange{0, kAny} : IntegerRange{row.min, row.max};
  const auto parsed = parse_integer(text, range);
  if (const auto* mistake = std::get_if<TextMistake>(&parsed)) return *mistake;
  return Value{std::get<std::int64_t>(parsed)};
}

Parsed parse_word(const SchemaRow& row, const std::string& text) {
  if (row.type == ValueType::boolean) {
    if (text != "true" && text != "false") return TextMistake{"neither true nor false"};
    return Value{std::int64_t{text == "true" ? 1 : 0}};
  }
  if (row.type == ValueType::number) {
    if (!is_decimal(text)) return TextMistake{"not a number"};
    return Value{text};
  }
  if (!is_one_of(row.words, text)) return TextMistake{"none of the words"};
  return Value{text};
}

}  // namespace

Parsed parse_value(const SchemaRow& row, const std::string& text) {
  switch (row.type) {
    case ValueType::section:
      return TextMistake{"not a section"};
    case ValueType::text:
    case ValueType::text_list:
    case ValueType::event_url:
      return text_or(mistake_in_text(text), text);
    case ValueType::header_value:
      return text_or(mistake_in_line(text), text);
    case ValueType::postgres_url:
      return text_or(mistake_in_postgres_url(text), text);
    case ValueType::redis_url:
      return text_or(mistake_in_redis_url(text), text);
    case ValueType::table_name:
      return text_or(mistake_in_table(text), text);
    case ValueType::column_name:
    case ValueType::column_list:
      return text_or(mistake_in_identifier(text), text);
    case ValueType::time_zone:
      return text_or(mistake_in_time_zone(text), text);
    case ValueType::path:
      return text_or(mistake_in_path(text), text);
    case ValueType::address:
      return text_or(mistake_in_address(text), text);
    case ValueType::event_list:
      return text_or(mistake_in_event_name(text), text);
    case ValueType::word:
    case ValueType::boolean:
    case ValueType::number:
      return parse_word(row, text);
    default:
      return parse_number(row, text);
  }
}

Parsed list_of(const SchemaRow& row, std::vector<Value> entries) {
  if (entries.size() < row.fewest) return TextMistake{"too few entries"};
  if (entries.size() > row.most) return TextMistake{"too many entries"};
  const bool may_repeat = row.type == ValueType::duration_list;
  const std::set<Value> distinct{entries.begin(), entries.end()};
  if (!may_repeat && distinct.size() < entries.size()) return TextMistake{"an entry stands twice"};
  if (row.type == ValueType::integer_list || row.type == ValueType::duration_list) {
    std::vector<std::int64_t> numbers;
    for (const Value& entry : entries) numbers.push_back(std::get<std::int64_t>(entry));
    return Value{std::move(numbers)};
  }
  std::vector<std::string> texts;
  for (Value& entry : entries) texts.push_back(std::get<std::string>(std::move(entry)));
  return Value{std::move(texts)};
}

std::uint64_t fingerprint(const Value& value) {
  Fingerprint print;
  print.add(std::to_string(value.index()));
  if (const auto* number = std::get_if<std::int64_t>(&value)) print.add(std::to_string(*number));
  if (const auto* text = std::get_if<std::string>(&value)) print.add(*text);
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (const std::int64_t each : *numbers) print.add(std::to_string(each));
  }
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& each : *texts) print.add(each);
  }
  return print.value();
}

std::optional<TextMistake> mistake_in_name(std::string_view section, std::string_view name) {
  if (section == "events") return mistake_in_event_name(name);
  if (section == "headers") return mistake_in_header_name(name);
  return mistake_in_identifier(name);
}

}  // namespace order_timeout
