#include "postgres/json_text.hpp"

#include <cstdio>

namespace order_timeout::postgres {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      result += escaped;
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string json_array(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) {
    if (!result.empty()) result += ',';
    result += json_string(text);
  }
  return '[' + result + ']';
}

std::string json_object(const JsonFields& fields) {
  std::string result;
  for (const auto& [key, value] : fields) {
    if (!result.empty()) result += ',';
    result += json_string(key) + ':' + value;
  }
  return '{' + result + '}';
}

}  // namespace order_timeout::postgres
