// One HTTP exchange as values: what is asked, what comes back, how it fails.
#pragma once

#include <boost/system/error_code.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace order_timeout::http {

struct HttpRequest {
  std::string method = "POST";  // POST | GET
  std::string target = "/";
  std::vector<std::pair<std::string, std::string>> headers;  // checked by who makes them
  std::string body;
};

// A complete answer, whatever it says. Its status is 200 to 599.
struct HttpAnswer {
  int status = 0;
  std::optional<std::string> retry_after;
  std::optional<std::string> date;
  std::string body;
};

// How far a request had come.
enum class Phase : std::uint8_t { resolve, connect, write, read };

enum class HttpFailureKind : std::uint8_t {
  refused,     // no connection: refused, unreachable, no such name
  timed_out,   // the phase's deadline passed
  lost,        // the connection ended before the answer was complete
  unreadable,  // what came is not HTTP
  too_big,     // head or body beyond our bounds
};

struct HttpFailure {
  Phase phase = Phase::connect;
  HttpFailureKind kind = HttpFailureKind::refused;
  bool sent = false;   // at least one byte of the request left: it may have had its effect
  std::string detail;  // the library's words
};

using HttpResult = std::variant<HttpAnswer, HttpFailure>;

std::string_view to_string(Phase phase);
std::string_view to_string(HttpFailureKind kind);

// The one translation of library errors to ours.
HttpFailureKind failure_kind(Phase phase, const boost::system::error_code& error);

}  // namespace order_timeout::http
