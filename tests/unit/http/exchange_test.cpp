// The translation of library errors into ours: a row each.
#include "http/exchange.hpp"

#include <gmock/gmock.h>

#include <boost/asio/error.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>

namespace order_timeout::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

struct Row {
  Phase phase;
  boost::system::error_code error;
  HttpFailureKind kind;
};

class FailureTable : public testing::TestWithParam<Row> {};

TEST_P(FailureTable, GivesEachErrorItsKind) {
  EXPECT_EQ(to_string(failure_kind(GetParam().phase, GetParam().error)), to_string(GetParam().kind))
      << to_string(GetParam().phase) << ' ' << GetParam().error.message();
}

using K = HttpFailureKind;
using E = beast::http::error;

INSTANTIATE_TEST_SUITE_P(
    All, FailureTable,
    testing::Values(Row{Phase::resolve, asio::error::host_not_found, K::refused},
                    Row{Phase::resolve, asio::error::host_not_found_try_again, K::refused},
                    Row{Phase::connect, asio::error::connection_refused, K::refused},
                    Row{Phase::connect, asio::error::host_unreachable, K::refused},
                    Row{Phase::connect, asio::error::network_unreachable, K::refused},
                    Row{Phase::connect, asio::error::connection_reset, K::refused},
                    Row{Phase::connect, beast::error::timeout, K::timed_out},
                    Row{Phase::connect, asio::error::timed_out, K::timed_out},
                    Row{Phase::write, beast::error::timeout, K::timed_out},
                    Row{Phase::write, asio::error::broken_pipe, K::lost},
                    Row{Phase::read, beast::error::timeout, K::timed_out},
                    Row{Phase::read, asio::error::connection_reset, K::lost},
                    Row{Phase::read, asio::error::eof, K::lost},
                    Row{Phase::read, asio::error::operation_aborted, K::lost},
                    Row{Phase::read, E::end_of_stream, K::lost},
                    Row{Phase::read, E::partial_message, K::lost},
                    Row{Phase::read, E::header_limit, K::too_big},
                    Row{Phase::read, E::body_limit, K::too_big},
                    Row{Phase::read, E::buffer_overflow, K::too_big},
                    Row{Phase::read, E::bad_version, K::unreadable},
                    Row{Phase::read, E::bad_status, K::unreadable},
                    Row{Phase::read, E::bad_content_length, K::unreadable},
                    Row{Phase::read, E::bad_chunk, K::unreadable}));

}  // namespace
}  // namespace order_timeout::http
