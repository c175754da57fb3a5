#include "order_timeout/durations.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace order_timeout {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// Larger first: the order in which they may follow each other.
constexpr std::array<Unit, 5> kDurationUnits{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::array<Unit, 7> kSizeUnits{{{"B", 1},
                                          {"KB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"KiB", 1'024},
                                          {"MiB", 1'048'576},
                                          {"GiB", 1'073'741'824}}};
constexpr std::int64_t kLongestMs = 36'525LL * 86'400'000;
constexpr std::int64_t kLargestSize = 1'000'000'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_while_digit(std::string_view& rest, bool digits) {
  const auto* const end =
      std::find_if(rest.begin(), rest.end(), [&](char c) { return is_digit(c) != digits; });
  const auto length = static_cast<std::size_t>(end - rest.begin());
  const std::string_view taken = rest.substr(0, length);
  rest.remove_prefix(length);
  return taken;
}

// Nothing for no digits, leading zeros or more than 64 bits hold.
std::optional<std::int64_t> number_of(std::string_view digits) {
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

TextMistake not_a_number(std::string_view digits) {
  if (digits.empty()) return {"no number where one must stand"};
  if (digits.front() == '0') return {"a number with leading zeros"};
  return {"the number is too large"};
}

// One number with its unit; the units that may still follow are `units` from `next` on.
std::variant<std::int64_t, TextMistake> duration_part(std::string_view& rest, std::size_t& next) {
  const std::string_view digits = take_while_digit(rest, true);
  const std::string_view name = take_while_digit(rest, false);
  if (digits.empty()) return TextMistake{"not a duration such as 500ms, 15m or 2h30m"};
  if (name.empty()) return TextMistake{"a duration needs a unit: 30m"};
  const auto number = number_of(digits);
  if (!number) return not_a_number(digits);
  const auto* const unit = std::find_if(kDurationUnits.begin(), kDurationUnits.end(),
                                        [&](const Unit& each) { return each.name == name; });
  if (unit == kDurationUnits.end()) return TextMistake{"the units are ms, s, m, h and d"};
  const auto index = static_cast<std::size_t>(unit - kDurationUnits.begin());
  if (index < next) return TextMistake{"larger units come first, each once: 2h30m"};
  next = index + 1;
  if (*number > kLongestMs / unit->factor) return TextMistake{"longer than 100 years"};
  return *number * unit->factor;
}

}  // namespace

std::variant<Duration, TextMistake> parse_duration(std::string_view text) {
  if (text.empty()) return TextMistake{"not a duration such as 500ms, 15m or 2h30m"};
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  while (!text.empty()) {
    const auto part = duration_part(text, next_unit);
    if (const auto* mistake = std::get_if<TextMistake>(&part)) return *mistake;
    total += std::get<std::int64_t>(part);  // at most five times kLongestMs
  }
  if (total > kLongestMs) return TextMistake{"longer than 100 years"};
  return Duration{total};
}

std::string format_duration(Duration duration) {
  std::int64_t rest = duration.count();
  if (rest == 0) return "0s";
  std::string text;
  for (const Unit& unit : kDurationUnits) {
    if (rest < unit.factor) continue;
    text += std::to_string(rest / unit.factor);
    text += unit.name;
    rest %= unit.factor;
  }
  return text;
}

std::variant<std::int64_t, TextMistake> parse_size(std::string_view text) {
  const std::string_view digits = take_while_digit(text, true);
  if (digits.empty()) return TextMistake{"not a size such as 100MB"};
  if (text.empty()) return TextMistake{"a size needs a unit: 100MB"};
  const auto number = number_of(digits);
  if (!number) return not_a_number(digits);
  const auto* const unit = std::find_if(kSizeUnits.begin(), kSizeUnits.end(),
                                        [&](const Unit& each) { return each.name == text; });
  if (unit == kSizeUnits.end()) return TextMistake{"the units are B, KB, MB, GB, KiB, MiB and GiB"};
  if (*number > kLargestSize / unit->factor) return TextMistake{"the size is too large"};
  return *number * unit->factor;
}

std::variant<int, TextMistake> parse_time_of_day(std::string_view text) {
  const TextMistake mistake{"not a time of day such as 03:00"};
  if (text.size() != 5 || text[2] != ':') return mistake;
  for (const std::size_t at : {0U, 1U, 3U, 4U}) {
    if (!is_digit(text[at])) return mistake;
  }
  const int hours = (text[0] - '0') * 10 + (text[1] - '0');
  const int minutes = (text[3] - '0') * 10 + (text[4] - '0');
  if (hours > 23 || minutes > 59) return mistake;
  return hours * 60 + minutes;
}

std::variant<std::int64_t, TextMistake> parse_integer(std::string_view text, IntegerRange range) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = negative ? text.substr(1) : text;
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) {
    return TextMistake{"not a whole number"};
  }
  const auto number = number_of(digits);
  if (!number) return not_a_number(digits);
  const std::int64_t value = negative ? -*number : *number;
  if (value < range.min) return TextMistake{"too small"};
  if (value > range.max) return TextMistake{"too large"};
  return value;
}

}  // namespace order_timeout
