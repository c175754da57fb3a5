// The pure parts of the HTTP sink: which settings it refuses, and that no event key can break out
// of its header.
#include "http/http_sink.hpp"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>

namespace order_timeout::http {
namespace {

using testing::HasSubstr;
using testing::Not;

Result<std::unique_ptr<HttpSink>> make_with_header(const std::string& name,
                                                   const std::string& value) {
  asio::io_context loop;
  SinkConfig config;
  config.url = "http://127.0.0.1:1/x";
  config.headers[name] = value;
  return HttpSink::make(loop.get_executor(), config);
}

TEST(HttpSink, TakesConfiguredHeaders) {
  EXPECT_TRUE(make_with_header("Authorization", "Bearer s3cret"));
}

TEST(HttpSink, RefusesAUrlThatIsNotPlainHttp) {
  asio::io_context loop;
  SinkConfig config;
  config.url = "https://127.0.0.1/x";
  EXPECT_FALSE(HttpSink::make(loop.get_executor(), config));
}

TEST(HttpSink, RefusesHeadersThatTheDaemonSets) {
  for (const char* name : {"Host", "content-length", "Transfer-Encoding", "Connection",
                           "Content-Type", "Idempotency-Key", "User-Agent"}) {
    EXPECT_FALSE(make_with_header(name, "x")) << name;
  }
}

TEST(HttpSink, RefusesHeadersThatWouldBreakTheRequestWithoutRepeatingThem) {
  EXPECT_FALSE(make_with_header("X Y", "x"));
  EXPECT_FALSE(make_with_header("", "x"));
  EXPECT_FALSE(make_with_header("X:", "x"));
  const auto sink = make_with_header("X", "s3cret\r\nHost: elsewhere");
  ASSERT_FALSE(sink);
  EXPECT_THAT(sink.error().detail, Not(HasSubstr("s3cret")));
}

TEST(IdempotencyKey, IsTheEventKeyItself) {
  EXPECT_EQ(idempotency_key("42:RELEASE_STOCK"), "42:RELEASE_STOCK");
}

TEST(IdempotencyKey, EscapesWhatAHeaderCannotCarry) {
  EXPECT_EQ(idempotency_key("1:REFUND:a\r\nX: y"), "1:REFUND:a%0D%0AX:%20y");
  EXPECT_EQ(idempotency_key("1:REFUND:\xc3\xa4"), "1:REFUND:%C3%A4");
}

TEST(IdempotencyKey, KeepsDifferentKeysDifferent) {
  EXPECT_NE(idempotency_key("a b"), idempotency_key("a%20b"));
}

}  // namespace
}  // namespace order_timeout::http
