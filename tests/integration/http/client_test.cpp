// The HTTP client against real sockets: each phase ends at its own deadline, each bound holds, a
// connection is used again, and the client knows whether anything had been sent.
#include "http/client.hpp"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <string>

#include "support/loop.hpp"
#include "support/raw_server.hpp"
#include "support/stock_service.hpp"

namespace order_timeout::http {
namespace {

using std::chrono::milliseconds;
using stock::Fault;
using stock::FaultKind;
using test::FullBacklog;
using test::RawServer;
using testing::HasSubstr;
using SteadyClock = std::chrono::steady_clock;

Client::Options options_for(const std::string& host, std::uint16_t port) {
  Client::Options options;
  options.url.host = host;
  options.url.port = std::to_string(port);
  options.url.authority = host + ":" + options.url.port;
  options.connect_timeout = milliseconds(300);
  options.read_timeout = milliseconds(5'000);
  return options;
}

HttpRequest release(const std::string& key) {
  HttpRequest request;
  request.target = "/stock/release";
  request.headers = {{"Idempotency-Key", key}, {"Content-Type", "application/json"}};
  request.body = R"({"order_id":1})";
  return request;
}

class ClientTest : public testing::Test {
 protected:
  HttpResult ask(Client& client, const std::string& key = "1:RELEASE_STOCK") {
    return test::run_on(loop_, client.request(release(key)));
  }

  // A fresh client, one request.
  HttpResult ask_port(std::uint16_t port) {
    Client client(loop_.get_executor(), options_for("127.0.0.1", port));
    return ask(client);
  }

  HttpResult ask_raw(const std::string& answer) {
    const RawServer server(answer);
    return ask_port(server.port());
  }

  boost::asio::io_context loop_{1};
};

void expect_failure(const HttpResult& result, Phase phase, HttpFailureKind kind, bool sent) {
  const auto* failure = std::get_if<HttpFailure>(&result);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(to_string(failure->phase), to_string(phase)) << failure->detail;
  EXPECT_EQ(to_string(failure->kind), to_string(kind)) << failure->detail;
  EXPECT_EQ(failure->sent, sent) << failure->detail;
}

int status_of(const HttpResult& result) {
  const auto* answer = std::get_if<HttpAnswer>(&result);
  return answer == nullptr ? 0 : answer->status;
}

TEST_F(ClientTest, BringsHeadersAndBodyToTheServerAndItsAnswerBack) {
  stock::StockService service;
  const auto result = ask_port(service.port());
  ASSERT_EQ(status_of(result), 200);
  EXPECT_EQ(std::get<HttpAnswer>(result).body, R"({"released":true})");
  const auto seen = service.last_request();
  EXPECT_EQ(seen.headers.at("host"), "127.0.0.1:" + std::to_string(service.port()));
  EXPECT_EQ(seen.headers.at("idempotency-key"), "1:RELEASE_STOCK");
  EXPECT_EQ(seen.body, R"({"order_id":1})");
}

TEST_F(ClientTest, FindsAHostByName) {
  stock::StockService service;
  Client client(loop_.get_executor(), options_for("localhost", service.port()));
  EXPECT_EQ(status_of(ask(client)), 200);
}

TEST_F(ClientTest, UsesAConnectionAgain) {
  stock::StockService service;
  Client client(loop_.get_executor(), options_for("127.0.0.1", service.port()));
  for (int i = 0; i < 10; ++i) ASSERT_EQ(status_of(ask(client, std::to_string(i))), 200);
  EXPECT_EQ(client.opened(), 1U);
  EXPECT_EQ(service.connections(), 1);
}

TEST_F(ClientTest, OpensANewConnectionWhereTheServerClosedTheIdleOne) {
  stock::StockService service;
  Client client(loop_.get_executor(), options_for("127.0.0.1", service.port()));
  ASSERT_EQ(status_of(ask(client)), 200);
  Fault down;
  down.kind = FaultKind::down;
  service.set_fault(down);
  service.clear_fault();
  EXPECT_EQ(status_of(ask(client)), 409);
  EXPECT_EQ(client.opened(), 2U);
}

TEST_F(ClientTest, ClosesAConnectionThatWaitedTooLong) {
  stock::StockService service;
  auto options = options_for("127.0.0.1", service.port());
  options.idle_timeout = milliseconds(-1);
  Client client(loop_.get_executor(), options);
  ASSERT_EQ(status_of(ask(client)), 200);
  ASSERT_EQ(status_of(ask(client)), 409);
  EXPECT_EQ(client.opened(), 2U);
}

TEST_F(ClientTest, DoesNotSendAgainWhatGotLostOnAUsedConnection) {
  stock::StockService service;
  Client client(loop_.get_executor(), options_for("127.0.0.1", service.port()));
  ASSERT_EQ(status_of(ask(client, "first")), 200);
  Fault fault;
  fault.kind = FaultKind::lose_answer;
  service.set_fault(fault);
  expect_failure(ask(client, "second"), Phase::read, HttpFailureKind::lost, true);
  EXPECT_EQ(service.calls("second"), 1);
}

TEST_F(ClientTest, KeepsNoConnectionThatTheServerWantsClosed) {
  const RawServer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  Client client(loop_.get_executor(), options_for("127.0.0.1", server.port()));
  ASSERT_EQ(status_of(ask(client)), 200);
  EXPECT_EQ(client.idle(), 0U);
}

TEST_F(ClientTest, KeepsNoConnectionWithBytesThatNobodyAskedFor) {
  const RawServer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 500 No\r\n");
  Client client(loop_.get_executor(), options_for("127.0.0.1", server.port()));
  ASSERT_EQ(status_of(ask(client)), 200);
  EXPECT_EQ(client.idle(), 0U);
}

TEST_F(ClientTest, KeepsAtMostItsBoundOfConnections) {
  stock::StockService service;
  auto options = options_for("127.0.0.1", service.port());
  options.idle_max = 4;
  options.read_timeout = milliseconds(10'000);
  Client client(loop_.get_executor(), options);
  Fault slow;
  slow.kind = FaultKind::slow;
  slow.delay = milliseconds(100);
  service.set_fault(slow);
  int done = 0;
  for (int i = 0; i < 40; ++i) {
    auto work = client.request(release(std::to_string(i)));
    boost::asio::co_spawn(loop_, std::move(work), [&](std::exception_ptr, HttpResult result) {
      done += status_of(result) == 200 ? 1 : 0;
    });
  }
  loop_.run_for(std::chrono::seconds(20));
  EXPECT_EQ(done, 40);
  EXPECT_EQ(client.opened(), 40U);
  EXPECT_EQ(client.idle(), 4U);
}

TEST_F(ClientTest, SaysRefusedWhereNobodyListens) {
  stock::StockService service;
  Fault down;
  down.kind = FaultKind::down;
  service.set_fault(down);
  expect_failure(ask_port(service.port()), Phase::connect, HttpFailureKind::refused, false);
}

TEST_F(ClientTest, SaysThatTheLookUpFailedWhereThereIsNoSuchName) {
  Client client(loop_.get_executor(), options_for("no..such..name", 80));
  expect_failure(ask(client), Phase::resolve, HttpFailureKind::refused, false);
}

TEST_F(ClientTest, GivesUpConnectingAtTheConnectDeadline) {
  const FullBacklog full;
  const auto begin = SteadyClock::now();
  expect_failure(ask_port(full.port()), Phase::connect, HttpFailureKind::timed_out, false);
  EXPECT_GE(SteadyClock::now() - begin, milliseconds(290));
  EXPECT_LT(SteadyClock::now() - begin, milliseconds(10'000));
}

class ReadDeadline : public ClientTest, public testing::WithParamInterface<FaultKind> {};

TEST_P(ReadDeadline, EndsAnAnswerThatDoesNotCome) {
  stock::StockService service;
  Fault fault;
  fault.kind = GetParam();
  fault.delay = milliseconds(150);
  if (fault.kind == FaultKind::apply_then_delay) fault.delay = milliseconds(60'000);
  service.set_fault(fault);
  auto options = options_for("127.0.0.1", service.port());
  options.read_timeout = milliseconds(600);
  Client client(loop_.get_executor(), options);
  const auto begin = SteadyClock::now();
  expect_failure(ask(client), Phase::read, HttpFailureKind::timed_out, true);
  EXPECT_GE(SteadyClock::now() - begin, milliseconds(590));
  EXPECT_LT(SteadyClock::now() - begin, milliseconds(10'000));
}

// Drop by drop each byte comes in time and the whole does not: the deadline is the answer's, not
// the byte's.
INSTANTIATE_TEST_SUITE_P(All, ReadDeadline,
                         testing::Values(FaultKind::hang, FaultKind::apply_then_delay,
                                         FaultKind::drip));

TEST_F(ClientTest, GivesUpWritingAtTheReadDeadlineAndKnowsThatSomethingWasSent) {
  const RawServer server("", RawServer::Reading::nothing);
  auto options = options_for("127.0.0.1", server.port());
  options.read_timeout = milliseconds(300);
  Client client(loop_.get_executor(), options);
  HttpRequest request = release("1:RELEASE_STOCK");
  request.body.assign(64U << 20U, ' ');
  const auto result = test::run_on(loop_, client.request(std::move(request)));
  expect_failure(result, Phase::write, HttpFailureKind::timed_out, true);
}

struct BrokenAnswer {
  FaultKind fault;
  HttpFailureKind kind;
};

class BrokenAnswers : public ClientTest, public testing::WithParamInterface<BrokenAnswer> {};

TEST_P(BrokenAnswers, AreToldApart) {
  stock::StockService service;
  Fault fault;
  fault.kind = GetParam().fault;
  service.set_fault(fault);
  expect_failure(ask_port(service.port()), Phase::read, GetParam().kind, true);
  EXPECT_EQ(service.effects("1:RELEASE_STOCK"), 1);
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenAnswers,
    testing::Values(BrokenAnswer{FaultKind::lose_answer, HttpFailureKind::lost},
                    BrokenAnswer{FaultKind::truncated_body, HttpFailureKind::lost},
                    BrokenAnswer{FaultKind::oversized_body, HttpFailureKind::too_big},
                    BrokenAnswer{FaultKind::endless_head, HttpFailureKind::too_big},
                    BrokenAnswer{FaultKind::garbage, HttpFailureKind::unreadable}));

std::string answer_with_body(std::size_t size) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
         std::string(size, 'x');
}

TEST_F(ClientTest, TakesABodyOfJustItsBound) {
  EXPECT_EQ(status_of(ask_raw(answer_with_body(65'536))), 200);
  expect_failure(ask_raw(answer_with_body(65'537)), Phase::read, HttpFailureKind::too_big, true);
}

TEST_F(ClientTest, BoundsABodyThatTellsNoLength) {
  const std::string chunk = "8000\r\n" + std::string(0x8000, 'x') + "\r\n";
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_of(ask_raw(head + chunk + chunk + "0\r\n\r\n")), 200);
  expect_failure(ask_raw(head + chunk + chunk + chunk + "0\r\n\r\n"), Phase::read,
                 HttpFailureKind::too_big, true);
  expect_failure(ask_raw("HTTP/1.0 200 OK\r\n\r\n" + std::string(70'000, 'x')), Phase::read,
                 HttpFailureKind::too_big, true);
}

TEST_F(ClientTest, TakesAHeadUpToItsBound) {
  const std::string begin = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
  EXPECT_EQ(status_of(ask_raw(begin + std::string(16'000, 'x') + "\r\n\r\n")), 200);
  expect_failure(ask_raw(begin + std::string(17'000, 'x') + "\r\n\r\n"), Phase::read,
                 HttpFailureKind::too_big, true);
}

TEST_F(ClientTest, PassesOverInterimAnswers) {
  const std::string interim = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
  const std::string last = "HTTP/1.1 204 No Content\r\n\r\n";
  EXPECT_EQ(status_of(ask_raw(interim + "HTTP/1.1 100 Continue\r\n\r\n" + last)), 204);
}

TEST_F(ClientTest, BoundsInterimAnswers) {
  std::string answer;
  for (int i = 0; i < 20; ++i) answer += "HTTP/1.1 100 Continue\r\n\r\n";
  expect_failure(ask_raw(answer), Phase::read, HttpFailureKind::unreadable, true);
}

TEST_F(ClientTest, TakesNoStatusBeyondTheStandard) {
  expect_failure(ask_raw("HTTP/1.1 101 Switching Protocols\r\n\r\n"), Phase::read,
                 HttpFailureKind::unreadable, true);
  expect_failure(ask_raw("HTTP/1.1 777 What\r\nContent-Length: 0\r\n\r\n"), Phase::read,
                 HttpFailureKind::unreadable, true);
}

TEST_F(ClientTest, FollowsNoRedirect) {
  stock::StockService service;
  Fault fault;
  fault.kind = FaultKind::redirect;
  service.set_fault(fault);
  EXPECT_EQ(status_of(ask_port(service.port())), 307);
  EXPECT_EQ(service.calls("1:RELEASE_STOCK"), 1);
  EXPECT_EQ(service.effects("1:RELEASE_STOCK"), 0);
}

TEST_F(ClientTest, BringsRetryAfterAndDate) {
  const auto result = ask_raw(
      "HTTP/1.1 503 Busy\r\nretry-after: 7\r\ndate: Mon, 30 Nov 2026 17:00:00 GMT\r\n"
      "Content-Length: 0\r\n\r\n");
  ASSERT_EQ(status_of(result), 503);
  EXPECT_EQ(std::get<HttpAnswer>(result).retry_after, "7");
  EXPECT_EQ(std::get<HttpAnswer>(result).date, "Mon, 30 Nov 2026 17:00:00 GMT");
}

}  // namespace
}  // namespace order_timeout::http
