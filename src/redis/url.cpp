#include "redis/url.hpp"

#include <charconv>
#include <optional>
#include <utility>

namespace order_timeout::redis {
namespace {

constexpr std::size_t kSocketPathMax = 107;  // sun_path with its final zero
constexpr int kDatabaseMax = 65'535;

Failure wrong(std::string what) {
  return Failure{FailureKind::rejected, "redis.url: " + std::move(what), ""};
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, byte, 16);
    if (digits.size() != 2 || error != std::errc{} || stop != end) return std::nullopt;
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

std::optional<Failure> read_credentials(std::string_view text, Url& url) {
  const std::size_t colon = text.find(':');
  auto user = percent_decoded(text.substr(0, colon));
  if (!user) return wrong("the user has a broken percent-encoding");
  url.user = std::move(*user);
  if (colon == std::string_view::npos) return std::nullopt;
  auto password = percent_decoded(text.substr(colon + 1));
  if (!password) return wrong("the password has a broken percent-encoding");
  url.password = std::move(*password);
  return std::nullopt;
}

std::optional<Failure> read_database(std::string_view text, Url& url) {
  if (text.empty()) return std::nullopt;
  const auto number = whole_number<int>(text);
  if (!number || *number < 0 || *number > kDatabaseMax) {
    return wrong("the database must be a number from 0 to 65535");
  }
  url.database = *number;
  return std::nullopt;
}

std::optional<Failure> read_address(std::string_view text, Url& url) {
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return wrong("the IPv6 address has no closing bracket");
    url.host = text.substr(1, close - 1);
    rest = text.substr(close + 1);
  } else {
    const std::size_t colon = text.find(':');
    url.host = text.substr(0, colon);
    if (colon != std::string_view::npos) rest = text.substr(colon);
  }
  if (url.host.empty()) return wrong("no host");
  if (rest.empty()) return std::nullopt;
  const auto port = whole_number<std::uint16_t>(rest.substr(1));
  if (rest.front() != ':' || !port || *port == 0) {
    return wrong("the port must be a number from 1 to 65535");
  }
  url.port = *port;
  return std::nullopt;
}

std::optional<Failure> read_tcp(std::string_view rest, Url& url) {
  const std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos) {
    if (auto failure = read_database(rest.substr(slash + 1), url)) return failure;
  }
  return read_address(rest.substr(0, slash), url);
}

std::optional<Failure> read_unix(std::string_view rest, Url& url) {
  const std::size_t question = rest.find('?');
  auto path = percent_decoded(rest.substr(0, question));
  if (!path || !path->starts_with('/')) return wrong("the socket needs an absolute path");
  if (path->size() > kSocketPathMax) return wrong("the socket's path is longer than 107 bytes");
  url.path = std::move(*path);
  if (question == std::string_view::npos) return std::nullopt;
  const std::string_view query = rest.substr(question + 1);
  if (!query.starts_with("db=")) return wrong("after the socket's path only ?db=N is known");
  return read_database(query.substr(3), url);
}

// Where the authority's credentials end: the last @ before the first slash.
std::size_t end_of_credentials(std::string_view rest) {
  return rest.substr(0, rest.find('/')).rfind('@');
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  const std::size_t colon = text.find("://");
  const std::string_view scheme = text.substr(0, colon);
  if (scheme == "rediss") return wrong("TLS (rediss://) is not in this version");
  if (colon == std::string_view::npos || (scheme != "redis" && scheme != "unix")) {
    return wrong("must begin with redis:// or unix://");
  }
  std::string_view rest = text.substr(colon + 3);
  Url url;
  if (const std::size_t at = end_of_credentials(rest); at != std::string_view::npos) {
    if (auto failure = read_credentials(rest.substr(0, at), url)) return *failure;
    rest.remove_prefix(at + 1);
  }
  auto failure = scheme == "redis" ? read_tcp(rest, url) : read_unix(rest, url);
  if (failure) return *failure;
  return url;
}

}  // namespace order_timeout::redis
