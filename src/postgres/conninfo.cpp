#include "postgres/conninfo.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <memory>
#include <regex>
#include <string_view>
#include <utility>

namespace order_timeout::postgres {
namespace {

using Options = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

std::string quoted(std::string_view value) {
  std::string text = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

std::string whole_seconds(Duration timeout) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(timeout).count();
  return std::to_string(std::max<std::int64_t>(2, seconds));
}

}  // namespace

Result<std::string> complete_conninfo(const std::string& url, Duration connect_timeout) {
  // libpq's own message would quote a part of the text, so it is thrown away.
  char* message = nullptr;
  const Options options(PQconninfoParse(url.c_str(), &message), &PQconninfoFree);
  PQfreemem(message);
  if (options == nullptr) {
    return Failure{FailureKind::rejected, "database.url is no valid connection string", ""};
  }
  const std::string seconds = whole_seconds(connect_timeout);
  const std::array<std::pair<std::string_view, std::string_view>, 8> ours{{
      {"connect_timeout", seconds},
      {"application_name", "order-timeoutd"},
      {"client_encoding", "UTF8"},
      {"keepalives", "1"},
      {"keepalives_idle", "3"},
      {"keepalives_interval", "2"},
      {"keepalives_count", "2"},
      {"tcp_user_timeout", "5000"},
  }};
  std::string text;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    std::string_view value = option->val == nullptr ? "" : option->val;
    const auto* own = std::ranges::find(ours, std::string_view(option->keyword),
                                        &std::pair<std::string_view, std::string_view>::first);
    if (option->val == nullptr && own != ours.end()) value = own->second;
    if (value.empty()) continue;
    text += std::string(text.empty() ? "" : " ") + option->keyword + "=" + quoted(value);
  }
  return text;
}

std::string without_passwords(std::string text) {
  static const std::regex in_pairs(R"((password\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s]+))",
                                   std::regex::icase | std::regex::optimize);
  static const std::regex in_uri(R"((://[^:/@\s]*:)[^@\s]*@)", std::regex::optimize);
  text = std::regex_replace(text, in_pairs, "$1***");
  return std::regex_replace(text, in_uri, "$1***@");
}

}  // namespace order_timeout::postgres
