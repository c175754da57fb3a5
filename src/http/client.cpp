#include "http/client.hpp"

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <string>
#include <utility>

namespace order_timeout::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Message = beast::http::request<beast::http::string_body>;
using AnswerParser = beast::http::response_parser<beast::http::string_body>;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr int kInterimAnswersMax = 8;
// getaddrinfo cannot be interrupted: a hanging resolver must not gather requests without bound.
constexpr std::size_t kLookupsMax = 16;

HttpFailure failed(Phase phase, const ErrorCode& error, bool sent) {
  return HttpFailure{phase, failure_kind(phase, error), sent, error.message()};
}

HttpFailure unreadable(std::string detail) {
  return HttpFailure{Phase::read, HttpFailureKind::unreadable, true, std::move(detail)};
}

Message to_message(HttpRequest request, const std::string& authority) {
  Message message;
  message.version(11);
  message.method_string(request.method);
  message.target(request.target);
  message.set(beast::http::field::host, authority);
  message.set(beast::http::field::user_agent, "order-timeoutd");
  for (const auto& [name, value] : request.headers) message.set(name, value);
  message.body() = std::move(request.body);
  message.prepare_payload();
  return message;
}

std::optional<std::string> header(const AnswerParser::value_type& answer, std::string_view name) {
  const auto found = answer.find(beast::string_view(name.data(), name.size()));
  if (found == answer.end()) return std::nullopt;
  return std::string(found->value());
}

HttpAnswer to_answer(AnswerParser::value_type message) {
  HttpAnswer answer;
  answer.status = static_cast<int>(message.result_int());
  answer.retry_after = header(message, "Retry-After");
  answer.date = header(message, "Date");
  answer.body = std::move(message.body());
  return answer;
}

bool is_interim(unsigned status) { return status >= 100 && status < 200 && status != 101; }

// Nothing to read and not closed: what an idle connection looks like. A peer that closed it while
// it waited shows here, before a request is risked on it.
bool is_quiet(tcp::socket& socket) {
  char byte = 0;
  const auto got = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

bool died_unsent(const HttpResult& result) {
  const auto* failure = std::get_if<HttpFailure>(&result);
  return failure != nullptr && !failure->sent && failure->kind == HttpFailureKind::lost;
}

}  // namespace

struct Client::Connection {
  explicit Connection(const asio::any_io_executor& executor) : stream(executor) {}

  beast::tcp_stream stream;
  beast::flat_buffer buffer;
  SteadyTime idle_since{};
};

struct Client::Lookup {
  explicit Lookup(const asio::any_io_executor& executor) : resolver(executor), finished(executor) {}

  tcp::resolver resolver;
  asio::steady_timer finished;  // cancelled by the answer, expires at the deadline
  bool answered = false;
  ErrorCode error;
  Endpoints endpoints;
};

Client::Client(asio::any_io_executor executor, Options options)
    : executor_(std::move(executor)), options_(std::move(options)) {}

Client::~Client() = default;

asio::awaitable<HttpResult> Client::request(HttpRequest request) { return run(std::move(request)); }

asio::awaitable<HttpResult> Client::run(HttpRequest request) {
  auto reused = take_idle();
  if (reused) {
    HttpResult result = co_await exchange(std::move(reused), request);
    if (!died_unsent(result)) co_return result;
  }
  Opened opened = co_await open();
  if (auto* failure = std::get_if<HttpFailure>(&opened)) co_return std::move(*failure);
  auto connection = std::get<0>(std::move(opened));
  co_return co_await exchange(std::move(connection), std::move(request));
}

asio::awaitable<Client::Opened> Client::open() {
  const SteadyTime deadline = std::chrono::steady_clock::now() + options_.connect_timeout;
  Resolved resolved = co_await resolve(deadline);
  if (auto* failure = std::get_if<HttpFailure>(&resolved)) co_return std::move(*failure);
  const Endpoints endpoints = std::get<0>(std::move(resolved));
  auto connection = std::make_unique<Connection>(executor_);
  connection->stream.expires_at(deadline);
  const auto [error, endpoint] = co_await connection->stream.async_connect(endpoints, kAwait);
  if (error) co_return failed(Phase::connect, error, false);
  ErrorCode ignored;
  connection->stream.socket().set_option(tcp::no_delay(true), ignored);
  ++opened_;
  co_return connection;
}

asio::awaitable<Client::Resolved> Client::resolve(SteadyTime deadline) {
  ErrorCode not_an_address;
  const auto address = asio::ip::make_address(options_.url.host, not_an_address);
  if (!not_an_address) {
    const auto port = static_cast<std::uint16_t>(std::stoul(options_.url.port));
    co_return Endpoints(1, tcp::endpoint(address, port));
  }
  const auto lookup = begin_lookup();
  if (!lookup) {
    co_return HttpFailure{Phase::resolve, HttpFailureKind::timed_out, false,
                          "earlier name look-ups are still hanging"};
  }
  lookup->finished.expires_at(deadline);
  co_await lookup->finished.async_wait(kAwait);
  if (!lookup->answered) {
    co_return HttpFailure{Phase::resolve, HttpFailureKind::timed_out, false,
                          "the name look-up took too long"};
  }
  if (lookup->error) co_return failed(Phase::resolve, lookup->error, false);
  co_return std::move(lookup->endpoints);
}

// Shared with the resolver, whose answer may come long after the request gave up.
std::shared_ptr<Client::Lookup> Client::begin_lookup() {
  std::erase_if(lookups_, [](const auto& lookup) { return lookup.expired(); });
  if (lookups_.size() >= kLookupsMax) return nullptr;
  auto lookup = std::make_shared<Lookup>(executor_);
  lookups_.push_back(lookup);
  lookup->resolver.async_resolve(
      options_.url.host, options_.url.port, tcp::resolver::numeric_service,
      [lookup](const ErrorCode& error, const tcp::resolver::results_type& results) {
        lookup->answered = true;
        lookup->error = error;
        for (const auto& result : results) lookup->endpoints.push_back(result.endpoint());
        lookup->finished.cancel();
      });
  return lookup;
}

asio::awaitable<HttpResult> Client::exchange(std::unique_ptr<Connection> connection,
                                             HttpRequest request) {
  Message message = to_message(std::move(request), options_.url.authority);
  connection->stream.expires_after(options_.read_timeout);
  const auto [error, written] =
      co_await beast::http::async_write(connection->stream, message, kAwait);
  if (error) co_return failed(Phase::write, error, written > 0);
  co_return co_await read_answer(std::move(connection));
}

asio::awaitable<HttpResult> Client::read_answer(std::unique_ptr<Connection> connection) {
  for (int interim = 0; interim < kInterimAnswersMax; ++interim) {
    AnswerParser parser;
    parser.header_limit(options_.head_max);
    parser.body_limit(options_.body_max);
    const auto [error, got] =
        co_await beast::http::async_read(connection->stream, connection->buffer, parser, kAwait);
    if (error) co_return failed(Phase::read, error, true);
    const unsigned status = parser.get().result_int();
    if (is_interim(status)) continue;
    if (status < 200 || status > 599) co_return unreadable("status " + std::to_string(status));
    if (parser.keep_alive()) keep(std::move(connection));
    co_return to_answer(parser.release());
  }
  co_return unreadable("too many interim answers");
}

std::unique_ptr<Client::Connection> Client::take_idle() {
  const SteadyTime oldest = std::chrono::steady_clock::now() - options_.idle_timeout;
  while (!idle_.empty()) {
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->idle_since >= oldest && is_quiet(connection->stream.socket())) {
      return connection;
    }
  }
  return nullptr;
}

// A connection whose answer was followed by bytes nobody asked for is not used again.
void Client::keep(std::unique_ptr<Connection> connection) {
  if (connection->buffer.size() > 0 || idle_.size() >= options_.idle_max) return;
  connection->stream.expires_never();
  connection->idle_since = std::chrono::steady_clock::now();
  idle_.push_back(std::move(connection));
}

}  // namespace order_timeout::http
