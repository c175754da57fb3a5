#include "http/admin_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <exception>
#include <set>
#include <string_view>
#include <utility>

namespace order_timeout::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using RequestParser = beast::http::request_parser<beast::http::string_body>;
using Request = RequestParser::value_type;
using Answer = beast::http::response<beast::http::string_body>;
using Status = beast::http::status;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::uint32_t kHeadMax = 8'192;
constexpr std::uint64_t kBodyMax = 1'024;
// After an accept that failed (no descriptor left), so that the loop does not spin.
constexpr Duration kAcceptPause{200};

Answer plain(Status status, std::string body) {
  Answer answer{status, 11};
  answer.set(beast::http::field::content_type, "text/plain; charset=utf-8");
  answer.body() = std::move(body);
  return answer;
}

Answer metrics_page(const AdminPages& pages) {
  auto answer = plain(Status::ok, pages.metrics());
  answer.set(beast::http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
  return answer;
}

Answer readiness_page(const AdminPages& pages) {
  auto readiness = pages.readiness();
  return plain(readiness.ready ? Status::ok : Status::service_unavailable, readiness.reason + "\n");
}

Answer page(const Request& request, const AdminPages& pages) {
  if (request.method() != beast::http::verb::get) {
    auto answer = plain(Status::method_not_allowed, "only GET\n");
    answer.set(beast::http::field::allow, "GET");
    return answer;
  }
  const auto target = request.target();
  const std::string_view whole(target.data(), target.size());
  const auto path = whole.substr(0, whole.find('?'));
  if (path == "/metrics") return metrics_page(pages);
  if (path == "/healthz") return plain(Status::ok, "ok\n");
  if (path == "/readyz") return readiness_page(pages);
  return plain(Status::not_found, "there are /metrics, /healthz and /readyz\n");
}

Answer answer_to(const Request& request, const AdminPages& pages) {
  Answer answer;
  try {
    answer = page(request, pages);
  } catch (const std::exception&) {
    answer = plain(Status::internal_server_error, "the page failed\n");
  }
  answer.keep_alive(false);
  answer.prepare_payload();
  return answer;
}

bool is_http_error(const ErrorCode& error) {
  static const ErrorCode some{beast::http::error::bad_version};
  return error.category() == some.category() && error != beast::http::error::end_of_stream &&
         error != beast::http::error::partial_message;
}

Answer refusal() {
  auto answer = plain(Status::bad_request, "not a request that is taken here\n");
  answer.keep_alive(false);
  answer.prepare_payload();
  return answer;
}

void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(std::move(error));
}

Failure listen_failure(FailureKind kind, const std::string& listen, const std::string& why) {
  return Failure{kind, "admin.listen " + listen + ": " + why, {}};
}

}  // namespace

struct AdminServer::State {
  State(asio::any_io_executor its_executor, Options its_options, AdminPages its_pages)
      : executor(std::move(its_executor)),
        options(std::move(its_options)),
        pages(std::move(its_pages)),
        acceptor(executor),
        pause(executor) {}

  static asio::awaitable<void> accept(std::shared_ptr<State> state);
  static asio::awaitable<void> serve(std::shared_ptr<State> state,
                                     std::unique_ptr<beast::tcp_stream> client);
  void leave(beast::tcp_stream* client);

  asio::any_io_executor executor;
  Options options;
  AdminPages pages;
  tcp::acceptor acceptor;
  asio::steady_timer pause;  // what accept() waits on while it may not accept
  std::set<beast::tcp_stream*> clients;
  bool stopped = false;
};

// Takes clients one by one, none while clients_max are being served.
asio::awaitable<void> AdminServer::State::accept(std::shared_ptr<State> state) {
  while (!state->stopped) {
    if (state->clients.size() >= state->options.clients_max) {
      state->pause.expires_at(asio::steady_timer::time_point::max());
      co_await state->pause.async_wait(kAwait);
      continue;
    }
    auto client = std::make_unique<beast::tcp_stream>(state->executor);
    const auto [error] = co_await state->acceptor.async_accept(client->socket(), kAwait);
    if (state->stopped) co_return;
    if (error) {
      state->pause.expires_after(kAcceptPause);
      co_await state->pause.async_wait(kAwait);
      continue;
    }
    state->clients.insert(client.get());
    asio::co_spawn(state->executor, serve(state, std::move(client)), rethrow);
  }
}

// The client is shared with nobody; a coroutine's parameter must survive being moved into its
// frame.
asio::awaitable<void> AdminServer::State::serve(std::shared_ptr<State> state,
                                                std::unique_ptr<beast::tcp_stream> client) {
  beast::flat_buffer buffer;
  RequestParser parser;
  parser.header_limit(kHeadMax);
  parser.body_limit(kBodyMax);
  client->expires_after(state->options.idle_timeout);
  const auto [error, got] = co_await beast::http::async_read(*client, buffer, parser, kAwait);
  // After stop() the pages may be gone, whatever had arrived before.
  if (!state->stopped && (!error || is_http_error(error))) {
    Answer answer = error ? refusal() : answer_to(parser.get(), state->pages);
    client->expires_after(state->options.idle_timeout);
    co_await beast::http::async_write(*client, answer, kAwait);
    ErrorCode ignored;
    client->socket().shutdown(tcp::socket::shutdown_send, ignored);
  }
  state->leave(client.get());
}

void AdminServer::State::leave(beast::tcp_stream* client) {
  clients.erase(client);
  pause.cancel();
}

AdminServer::AdminServer(asio::any_io_executor executor, Options options, AdminPages pages)
    : state_(std::make_shared<State>(std::move(executor), std::move(options), std::move(pages))) {}

AdminServer::~AdminServer() { stop(); }

Result<Done> AdminServer::start() {
  const std::string& listen = state_->options.listen;
  const auto colon = listen.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return listen_failure(FailureKind::rejected, listen, "not HOST:PORT");
  }
  std::string host = listen.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  ErrorCode error;
  tcp::resolver resolver(state_->executor);
  const auto found =
      resolver.resolve(host, listen.substr(colon + 1),
                       tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error) return listen_failure(FailureKind::rejected, listen, error.message());
  const tcp::endpoint endpoint = *found.begin();
  auto& acceptor = state_->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    ErrorCode ignored;
    acceptor.close(ignored);
    return listen_failure(FailureKind::unavailable, listen, error.message());
  }
  asio::co_spawn(state_->executor, State::accept(state_), rethrow);
  return Done{};
}

void AdminServer::stop() {
  state_->stopped = true;
  ErrorCode ignored;
  state_->acceptor.close(ignored);
  state_->pause.cancel();
  for (auto* client : state_->clients) client->close();
}

std::uint16_t AdminServer::port() const {
  ErrorCode error;
  const auto endpoint = state_->acceptor.local_endpoint(error);
  return error ? std::uint16_t{0} : endpoint.port();
}

}  // namespace order_timeout::http
