#include "http/exchange.hpp"

#include <array>
#include <boost/asio/error.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>

namespace order_timeout::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr std::array<std::string_view, 4> kPhases{"resolve", "connect", "write", "read"};
constexpr std::array<std::string_view, 5> kKinds{"refused", "timed_out", "lost", "unreadable",
                                                 "too_big"};

bool is_too_big(const boost::system::error_code& error) {
  return error == beast::http::error::header_limit || error == beast::http::error::body_limit ||
         error == beast::http::error::buffer_overflow;
}

// The connection ended where HTTP wanted more.
bool is_cut_short(const boost::system::error_code& error) {
  return error == beast::http::error::end_of_stream || error == beast::http::error::partial_message;
}

bool is_http_error(const boost::system::error_code& error) {
  static const boost::system::error_code some{beast::http::error::bad_version};
  return error.category() == some.category();
}

}  // namespace

std::string_view to_string(Phase phase) { return kPhases.at(static_cast<std::size_t>(phase)); }

std::string_view to_string(HttpFailureKind kind) {
  return kKinds.at(static_cast<std::size_t>(kind));
}

HttpFailureKind failure_kind(Phase phase, const boost::system::error_code& error) {
  if (error == beast::error::timeout || error == asio::error::timed_out) {
    return HttpFailureKind::timed_out;
  }
  if (phase == Phase::resolve || phase == Phase::connect) return HttpFailureKind::refused;
  if (is_too_big(error)) return HttpFailureKind::too_big;
  if (is_cut_short(error)) return HttpFailureKind::lost;
  if (is_http_error(error)) return HttpFailureKind::unreadable;
  return HttpFailureKind::lost;
}

}  // namespace order_timeout::http
