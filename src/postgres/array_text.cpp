#include "postgres/array_text.hpp"

#include "postgres/failure.hpp"

namespace order_timeout::postgres {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

template <class Value, class Print>
std::string joined(const std::vector<Value>& values, Print print) {
  std::string text = "{";
  for (const Value& value : values) {
    if (text.size() > 1) text += ',';
    text += print(value);
  }
  return text + "}";
}

}  // namespace

std::string array_text(const std::vector<std::int64_t>& numbers) {
  return joined(numbers, [](std::int64_t number) { return std::to_string(number); });
}

std::string array_text(const std::vector<std::string>& texts) {
  return joined(texts, [](const std::string& text) { return quoted(text); });
}

bool storable(std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max) return false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0 || text[at] == '\0') return false;
    at += length;
  }
  return true;
}

}  // namespace order_timeout::postgres
