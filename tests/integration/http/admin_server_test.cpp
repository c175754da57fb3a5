// The admin server against real clients: its pages, its refusals, and that no client can hold it up
// or fill it.
#include "http/admin_server.hpp"

#include <gmock/gmock.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>

#include "http/client.hpp"
#include "support/loop.hpp"

namespace order_timeout::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

class AdminServerTest : public testing::Test {
 protected:
  AdminServer& start(milliseconds idle_timeout = milliseconds(5'000)) {
    AdminServer::Options options;
    options.listen = "127.0.0.1:0";
    options.idle_timeout = idle_timeout;
    AdminPages pages;
    pages.metrics = [this] { return metrics_(); };
    pages.readiness = [this] { return readiness_; };
    server_ = std::make_unique<AdminServer>(loop_.get_executor(), options, pages);
    EXPECT_TRUE(server_->start());
    return *server_;
  }

  HttpResult ask(const std::string& method, const std::string& target,
                 milliseconds patience = milliseconds(5'000)) {
    Client::Options options;
    options.url.host = "127.0.0.1";
    options.url.port = std::to_string(server_->port());
    options.url.authority = "127.0.0.1";
    options.read_timeout = patience;
    Client client(loop_.get_executor(), options);
    HttpRequest request;
    request.method = method;
    request.target = target;
    return test::run_on(loop_, client.request(std::move(request)));
  }

  HttpAnswer get(const std::string& target) {
    auto result = ask("GET", target);
    if (auto* failure = std::get_if<HttpFailure>(&result)) {
      throw std::runtime_error(failure->detail);
    }
    return std::get<HttpAnswer>(std::move(result));
  }

  tcp::socket connect() {
    tcp::socket socket(loop_);
    socket.connect(tcp::endpoint(asio::ip::address_v4::loopback(), server_->port()));
    return socket;
  }

  // What the server says until it closes.
  std::string say(const std::string& request) {
    auto socket = connect();
    asio::write(socket, asio::buffer(request));
    return test::run_on(loop_, read_to_end(socket));
  }

  static asio::awaitable<std::string> read_to_end(tcp::socket& socket) {
    constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
    std::string text;
    std::array<char, 4'096> bytes{};
    while (true) {
      const auto buffer = asio::buffer(bytes);
      const auto [error, got] = co_await socket.async_read_some(buffer, kAwait);
      if (error) co_return text;
      text.append(bytes.data(), got);
    }
  }

  asio::io_context loop_{1};
  std::function<std::string()> metrics_ = [] { return "order_timeout_pending_orders 3\n"; };
  Readiness readiness_{true, "ready"};
  std::unique_ptr<AdminServer> server_;
};

TEST_F(AdminServerTest, ShowsTheMetrics) {
  start();
  const auto answer = get("/metrics");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "order_timeout_pending_orders 3\n");
}

TEST_F(AdminServerTest, NamesThePrometheusTextFormat) {
  start();
  EXPECT_THAT(say("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"),
              HasSubstr("Content-Type: text/plain; version=0.0.4"));
}

TEST_F(AdminServerTest, ShowsMetricsLargerThanASocketTakesAtOnce) {
  start();
  metrics_ = [] { return std::string(8U << 20U, 'x'); };
  EXPECT_GT(say("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").size(), 8U << 20U);
}

TEST_F(AdminServerTest, IsHealthyWhileTheLoopTurns) {
  start();
  readiness_ = {false, "rebuilding"};
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(AdminServerTest, IsReadyWhenTheDaemonSaysSo) {
  start();
  EXPECT_EQ(get("/readyz").status, 200);
  readiness_ = {false, "rebuilding: 10 of 20 orders"};
  const auto answer = get("/readyz?verbose");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "rebuilding: 10 of 20 orders\n");
}

TEST_F(AdminServerTest, KnowsNoOtherPage) {
  start();
  EXPECT_EQ(get("/").status, 404);
  EXPECT_EQ(get("/metrics/").status, 404);
}

TEST_F(AdminServerTest, TakesNoOtherMethod) {
  start();
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "BREW"}) {
    const auto result = ask(method, "/metrics");
    ASSERT_TRUE(std::holds_alternative<HttpAnswer>(result)) << method;
    EXPECT_EQ(std::get<HttpAnswer>(result).status, 405) << method;
  }
  EXPECT_THAT(say("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 405"));
}

TEST_F(AdminServerTest, SaysThatAPageFailedAndGoesOn) {
  start();
  metrics_ = []() -> std::string { throw std::runtime_error("secret detail"); };
  const auto answer = get("/metrics");
  EXPECT_EQ(answer.status, 500);
  EXPECT_THAT(answer.body, testing::Not(HasSubstr("secret")));
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(AdminServerTest, RefusesWhatIsNoRequestOrTooBig) {
  start();
  EXPECT_THAT(say("what\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  const std::string filler(9'000, 'x');
  EXPECT_THAT(say("GET /metrics HTTP/1.1\r\nX: " + filler + "\r\n\r\n"),
              StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(say("POST /metrics HTTP/1.1\r\nContent-Length: 5000\r\n\r\n"),
              StartsWith("HTTP/1.1 400"));
}

TEST_F(AdminServerTest, ClosesAClientThatSaysNothing) {
  start(milliseconds(200));
  auto socket = connect();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(test::run_on(loop_, read_to_end(socket)), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(4'000));
}

TEST_F(AdminServerTest, ServesSixteenClientsAndLetsTheNextWaitForAPlace) {
  start();
  std::list<tcp::socket> idle;
  for (int i = 0; i < 16; ++i) idle.push_back(connect());
  EXPECT_TRUE(std::holds_alternative<HttpFailure>(ask("GET", "/healthz", milliseconds(200))));
  idle.pop_back();
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(AdminServerTest, LetsNoSilentClientsKeepTheOthersOutForLong) {
  start(milliseconds(200));
  std::list<tcp::socket> idle;
  for (int i = 0; i < 40; ++i) idle.push_back(connect());
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(AdminServerTest, ReportsAPortThatIsTaken) {
  AdminServer& first = start();
  AdminServer::Options options;
  options.listen = "127.0.0.1:" + std::to_string(first.port());
  AdminServer second(loop_.get_executor(), options, AdminPages{});
  const auto started = second.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, FailureKind::unavailable);
  EXPECT_THAT(started.error().detail, HasSubstr(options.listen));
  EXPECT_EQ(second.port(), 0);
}

TEST_F(AdminServerTest, RejectsAnAddressThatIsNone) {
  for (const char* listen : {"", "9478", ":9478", "127.0.0.1:http?", "no..such..name:1"}) {
    AdminServer::Options options;
    options.listen = listen;
    AdminServer server(loop_.get_executor(), options, AdminPages{});
    const auto started = server.start();
    ASSERT_FALSE(started) << listen;
    EXPECT_EQ(started.error().kind, FailureKind::rejected) << listen;
  }
}

TEST_F(AdminServerTest, ClosesItsPortAndItsClientsWhenItStops) {
  AdminServer& server = start();
  auto socket = connect();
  get("/healthz");
  const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), server.port());
  server.stop();
  server.stop();
  EXPECT_EQ(test::run_on(loop_, read_to_end(socket)), "");
  tcp::socket late(loop_);
  boost::system::error_code error;
  late.connect(endpoint, error);
  EXPECT_EQ(error, asio::error::connection_refused);
}

TEST_F(AdminServerTest, AsksForNoPageOnceItIsGone) {
  start();
  int asked = 0;
  metrics_ = [&] {
    ++asked;
    return std::string();
  };
  auto socket = connect();
  get("/healthz");  // the socket above is being served now
  asio::write(socket, asio::buffer(std::string("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")));
  server_.reset();
  loop_.restart();
  loop_.run_for(std::chrono::seconds(5));
  EXPECT_EQ(asked, 0);
}

TEST_F(AdminServerTest, MayBeStoppedBeforeItStarts) {
  AdminServer::Options options;
  options.listen = "127.0.0.1:0";
  AdminServer server(loop_.get_executor(), options, AdminPages{});
  server.stop();
  EXPECT_EQ(server.port(), 0);
}

}  // namespace
}  // namespace order_timeout::http
