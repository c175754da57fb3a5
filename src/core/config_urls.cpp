#include "core/config_urls.hpp"

#include <algorithm>

namespace order_timeout {
namespace {

// Printable ASCII without blanks, quotes and what RFC 3986 has no place for.
bool is_url_character(char c) {
  return c > ' ' && c < 0x7F && std::string_view{"\"<>\\^`|"}.find(c) == std::string_view::npos;
}

bool all_url_characters(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_url_character);
}

bool is_port(std::string_view text, std::int64_t least) {
  return std::holds_alternative<std::int64_t>(parse_integer(text, {least, 65'535}));
}

struct HostPort {
  std::string_view host;                 // without the brackets of an IPv6 address
  std::optional<std::string_view> port;  // nothing: not given
};

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

bool is_ipv6_character(char c) {
  return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' ||
         c == '.';
}

std::optional<HostPort> bracketed_host(std::string_view text) {
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view host = text.substr(1, end - 1);
  if (host.empty() || !std::all_of(host.begin(), host.end(), is_ipv6_character)) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(end + 1);
  if (rest.empty()) return HostPort{host, std::nullopt};
  if (rest.front() != ':') return std::nullopt;
  return HostPort{host, rest.substr(1)};
}

std::optional<HostPort> split_host_port(std::string_view text) {
  if (text.starts_with('[')) return bracketed_host(text);
  const std::size_t colon = text.find(':');
  const std::string_view host = text.substr(0, colon);
  if (host.empty() || !std::all_of(host.begin(), host.end(), is_host_character)) {
    return std::nullopt;
  }
  if (colon == std::string_view::npos) return HostPort{host, std::nullopt};
  return HostPort{host, text.substr(colon + 1)};
}

bool is_dotted_quad(std::string_view host) {
  int parts = 0;
  while (true) {
    const std::size_t dot = host.find('.');
    if (!std::holds_alternative<std::int64_t>(parse_integer(host.substr(0, dot), {0, 255}))) {
      return false;
    }
    ++parts;
    if (dot == std::string_view::npos) return parts == 4;
    host.remove_prefix(dot + 1);
  }
}

bool is_this_machine(std::string_view host) {
  return host == "localhost" || host == "::1" || (host.starts_with("127.") && is_dotted_quad(host));
}

std::string lower(std::string_view text) {
  std::string lowered{text};
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lowered;
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  const std::string from = lower(text);
  std::string decoded;
  for (std::size_t at = 0; at < from.size(); ++at) {
    const bool code = from[at] == '%' && at + 2 < from.size() && digit(from[at + 1]) >= 0 &&
                      digit(from[at + 2]) >= 0;
    if (!code) {
      decoded += from[at];
      continue;
    }
    decoded += static_cast<char>(digit(from[at + 1]) * 16 + digit(from[at + 2]));
    at += 2;
  }
  return lower(decoded);
}

// password, sslpassword, scram_client_key, oauth_client_secret, ...; passfile with them.
bool names_a_secret(std::string_view keyword) {
  const std::string name = percent_decoded(keyword);
  for (const std::string_view part : {"pass", "secret", "scram", "token"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  return false;
}

std::string masked_query(std::string_view query) {
  std::string masked;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view parameter = query.substr(0, end);
    const std::size_t equals = parameter.find('=');
    const bool secret =
        equals != std::string_view::npos && names_a_secret(parameter.substr(0, equals));
    masked +=
        secret ? std::string{parameter.substr(0, equals + 1)} + "***" : std::string{parameter};
    if (end < query.size()) masked += '&';
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return masked;
}

// user:password@host. A password may hold a raw '/', '?' or '@', if only by mistake: the last '@'
// before the path ends it, and where none is there, the last one before the query.
std::string masked_url(std::string_view text) {
  const std::size_t start = text.find("://") + 3;
  std::size_t at = text.substr(0, text.find('/', start)).rfind('@');
  const bool plain = at != std::string_view::npos && at >= start;
  if (!plain) at = text.substr(0, text.find('?', start)).rfind('@');
  if (at == std::string_view::npos || at < start) at = start;
  const std::size_t colon = text.substr(0, at).find(':', start);
  std::string masked{text.substr(0, std::min(colon, at))};
  if (colon != std::string_view::npos) masked += ":***";
  const std::string_view rest = text.substr(at);
  const std::size_t query = rest.find('?');
  masked += rest.substr(0, query);
  if (query == std::string_view::npos) return masked;
  return masked + '?' + masked_query(rest.substr(query + 1));
}

// The end of a libpq value that begins at `at`: a quoted one holds blanks, a backslash takes the
// next character.
std::size_t value_end(std::string_view text, std::size_t at) {
  const bool quoted = at < text.size() && text[at] == '\'';
  for (std::size_t i = at + (quoted ? 1 : 0); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (quoted ? text[i] == '\'' : text[i] == ' ') {
      return quoted ? i + 1 : i;
    }
  }
  return text.size();
}

std::string masked_pairs(std::string_view text) {
  std::string masked;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t equals = text.find('=', at);
    if (equals == std::string_view::npos) return masked + std::string{text.substr(at)};
    const std::size_t value = std::min(text.find_first_not_of(' ', equals + 1), text.size());
    const std::size_t end = value_end(text, value);
    const bool secret = names_a_secret(text.substr(at, equals - at));
    masked += text.substr(at, value - at);
    masked += secret ? std::string_view{"***"} : text.substr(value, end - value);
    at = end;
  }
  return masked;
}

bool is_redis_database(std::string_view text) {
  return text.empty() || std::holds_alternative<std::int64_t>(parse_integer(text, {0, 65'535}));
}

// HOST[:PORT][/DB]
std::optional<TextMistake> mistake_in_redis_server(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto target = split_host_port(text.substr(0, slash));
  if (!target) return TextMistake{"no host in the URL"};
  if (target->port && !is_port(*target->port, 1)) return TextMistake{"a bad port"};
  if (slash < text.size() && !is_redis_database(text.substr(slash + 1))) {
    return TextMistake{"the path is not the number of a database"};
  }
  return std::nullopt;
}

// /PATH[?db=N]
std::optional<TextMistake> mistake_in_socket(std::string_view text) {
  constexpr std::size_t kLongestPath = 107;  // sun_path without its final zero
  const std::size_t question = std::min(text.find('?'), text.size());
  if (!text.starts_with('/') || question == 1) return TextMistake{"no absolute socket path"};
  if (question > kLongestPath) return TextMistake{"the socket's path is longer than 107 bytes"};
  const std::string_view query = text.substr(question);
  if (!query.empty() && (!query.starts_with("?db=") || !is_redis_database(query.substr(4)))) {
    return TextMistake{"behind the socket's path only ?db=N is known"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<TextMistake> mistake_in_postgres_url(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return TextMistake{"a control character"};
  }
  if (text.starts_with("postgresql://") || text.starts_with("postgres://")) {
    if (!all_url_characters(text)) {
      return TextMistake{"a character that a URL must write as %XX"};
    }
    return std::nullopt;
  }
  const std::size_t equals = text.find('=');
  const bool pairs = equals != std::string_view::npos && equals > 0 &&
                     text.substr(0, equals).find_first_of(":/@") == std::string_view::npos;
  if (!pairs) return TextMistake{"neither a postgresql:// URI nor key=value pairs"};
  return std::nullopt;
}

std::optional<TextMistake> mistake_in_redis_url(std::string_view text) {
  if (!all_url_characters(text)) return TextMistake{"a character that a URL must write as %XX"};
  if (text.starts_with("rediss://")) return TextMistake{"TLS (rediss) is not in this version"};
  const bool socket = text.starts_with("unix://");
  if (!socket && !text.starts_with("redis://")) return TextMistake{"neither redis:// nor unix://"};
  std::string_view rest = text.substr(socket ? 7 : 8);
  const std::size_t at = rest.substr(0, rest.find('/')).rfind('@');
  if (at != std::string_view::npos) rest.remove_prefix(at + 1);
  return socket ? mistake_in_socket(rest) : mistake_in_redis_server(rest);
}

std::optional<TextMistake> mistake_in_event_url(std::string_view text) {
  if (text.starts_with("https://")) return TextMistake{"https is not in this version"};
  if (!text.starts_with("http://")) return TextMistake{"not an http:// URL"};
  if (!all_url_characters(text)) return TextMistake{"a character that a URL must write as %XX"};
  if (text.find('#') != std::string_view::npos) return TextMistake{"a fragment (#) in the URL"};
  const std::string_view rest = text.substr(7);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  if (authority.find('@') != std::string_view::npos) {
    return TextMistake{"user or password in the URL; use headers"};
  }
  const auto target = split_host_port(authority);
  if (!target) return TextMistake{"no host in the URL"};
  if (target->port && !is_port(*target->port, 1)) return TextMistake{"a bad port"};
  if (!is_this_machine(target->host)) {
    return TextMistake{
        "http beyond this machine (127.0.0.1, [::1], localhost) is not in this version"};
  }
  return std::nullopt;
}

std::optional<TextMistake> mistake_in_address(std::string_view text) {
  const auto target = split_host_port(text);
  if (!target) return TextMistake{"not HOST:PORT"};
  if (!target->port || !is_port(*target->port, 0)) return TextMistake{"a port is missing or bad"};
  return std::nullopt;
}

std::string mask_passwords(const std::string& text) {
  return text.find("://") < text.find('=') ? masked_url(text) : masked_pairs(text);
}

}  // namespace order_timeout
