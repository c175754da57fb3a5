#include "http/url.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace order_timeout::http {
namespace {

constexpr std::string_view kScheme = "http://";

Failure refuse(std::string detail) { return Failure{FailureKind::rejected, std::move(detail), {}}; }

bool is_printable(char c) { return c > ' ' && c < '\x7f'; }

bool is_host_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
}

bool is_address6_char(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
}

bool has_scheme(std::string_view text) {
  if (text.size() < kScheme.size()) return false;
  return std::equal(kScheme.begin(), kScheme.end(), text.begin(), [](char want, char have) {
    return want == std::tolower(static_cast<unsigned char>(have));
  });
}

bool is_port(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && port >= 1 && port <= 65'535;
}

struct HostAndPort {
  std::string_view host;
  std::string_view port;  // empty: none was given
};

// HOST, HOST:PORT, [ADDRESS6] or [ADDRESS6]:PORT.
std::optional<HostAndPort> split_authority(std::string_view authority) {
  HostAndPort parts;
  std::string_view rest;
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    parts.host = authority.substr(1, end - 1);
    if (!std::all_of(parts.host.begin(), parts.host.end(), is_address6_char)) return std::nullopt;
    rest = authority.substr(end + 1);
  } else {
    const auto colon = std::min(authority.find(':'), authority.size());
    parts.host = authority.substr(0, colon);
    if (!std::all_of(parts.host.begin(), parts.host.end(), is_host_char)) return std::nullopt;
    rest = authority.substr(colon);
  }
  if (parts.host.empty()) return std::nullopt;
  if (rest.empty()) return parts;
  if (!rest.starts_with(':') || !is_port(rest.substr(1))) return std::nullopt;
  parts.port = rest.substr(1);
  return parts;
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  if (!has_scheme(text)) return refuse("the URL does not begin with http://");
  if (!std::all_of(text.begin(), text.end(), is_printable)) {
    return refuse("the URL has a space, control or non-ASCII character: percent-encode it");
  }
  text.remove_prefix(kScheme.size());
  if (text.find('#') != std::string_view::npos) return refuse("the URL has a fragment");
  const auto end = std::min(text.find_first_of("/?"), text.size());
  const std::string_view authority = text.substr(0, end);
  if (authority.find('@') != std::string_view::npos) {
    return refuse("the URL has a user or password: use a header");
  }
  const auto parts = split_authority(authority);
  if (!parts) return refuse("the URL has no valid host or port");
  Url url;
  url.host = parts->host;
  url.port = parts->port.empty() ? "80" : std::string(parts->port);
  url.authority = authority;
  url.target = text.substr(end);
  if (!url.target.starts_with('/')) url.target.insert(0, 1, '/');
  return url;
}

}  // namespace order_timeout::http
