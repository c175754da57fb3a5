#include "support/stock_session.hpp"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "support/stock_request.hpp"

namespace order_timeout::stock {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace json = boost::json;
using Stream = beast::tcp_stream;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::uint64_t kRequestBodyMax = 1U << 20U;
constexpr int kEndlessHeadLines = 16'384;

// While it lives the service knows the connection.
class Presence {
 public:
  Presence(StockState& state, Stream* stream) : state_(state), stream_(stream) {
    state_.sessions.insert(stream_);
  }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  ~Presence() { state_.sessions.erase(stream_); }

 private:
  StockState& state_;
  Stream* stream_;
};

template <class Work>
asio::awaitable<std::invoke_result_t<Work>> run_work(Work work) {
  co_return work();
}

// Blocking work on a thread of the books; the caller goes on where it was.
template <class Work>
asio::awaitable<std::invoke_result_t<Work>> on_books(StockState& state, Work work) {
  return asio::co_spawn(state.book_threads, run_work(std::move(work)), asio::use_awaitable);
}

asio::awaitable<Applied> apply(StockState& state, Release release, AnswerNote note) {
  auto work = [books = state.books.get(), release = std::move(release), note = std::move(note)] {
    return books->apply(release, note);
  };
  return on_books(state, std::move(work));
}

asio::awaitable<bool> note_call(StockState& state, std::string key, std::string answer) {
  auto work = [books = state.books.get(), key = std::move(key), answer = std::move(answer)] {
    books->note_call(key, answer);
    return true;
  };
  return on_books(state, std::move(work));
}

asio::awaitable<bool> send(Stream& stream, Response response) {
  response.prepare_payload();
  const auto [error, sent] = co_await beast::http::async_write(stream, response, kAwait);
  co_return !error;
}

asio::awaitable<bool> send_raw(Stream& stream, std::string text) {
  const auto buffer = asio::buffer(text);
  const auto [error, sent] = co_await asio::async_write(stream, buffer, kAwait);
  co_return !error;
}

asio::awaitable<void> wait(std::chrono::milliseconds delay) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  timer.expires_after(delay);
  co_await timer.async_wait(kAwait);
}

// Reads on, so that it ends when the other side gives up or the service goes down.
asio::awaitable<bool> hang(Stream& stream) {
  std::array<char, 256> bytes{};
  while (true) {
    const auto buffer = asio::buffer(bytes);
    const auto [error, got] = co_await stream.async_read_some(buffer, kAwait);
    if (error) co_return false;
  }
}

asio::awaitable<bool> send_endless_head(Stream& stream) {
  bool well = co_await send_raw(stream, "HTTP/1.1 200 OK\r\n");
  const std::string line = "X-Filler: " + std::string(1'000, 'x') + "\r\n";
  for (int i = 0; well && i < kEndlessHeadLines; ++i) well = co_await send_raw(stream, line);
  co_return false;
}

asio::awaitable<bool> send_drop_by_drop(Stream& stream, std::chrono::milliseconds delay) {
  const std::string body = R"({"released":true})";
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size());
  bool well = co_await send_raw(stream, head + "\r\n\r\n");
  for (std::size_t i = 0; well && i < body.size(); ++i) {
    co_await wait(delay);
    well = co_await send_raw(stream, body.substr(i, 1));
  }
  co_return well;
}

Response released(const StockState& state, Applied applied, const Fault& fault) {
  if (applied == Applied::failed) return make_response(500, R"({"error":"books"})");
  if (applied == Applied::unknown_sku) return make_response(422, R"({"error":"unknown sku"})");
  if (fault.kind == FaultKind::status) return make_response(fault.status, R"({"released":true})");
  const int status = applied == Applied::fresh ? 200 : state.options.repeat_status;
  return make_response(status, R"({"released":true})");
}

// The stock has moved: what the caller gets to see of it.
asio::awaitable<bool> answer_applied(Stream& stream, Response response, Fault fault) {
  switch (fault.kind) {
    case FaultKind::lose_answer:
      co_return false;
    case FaultKind::truncated_body:
      co_await send_raw(stream, "HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n{\"relea");
      co_return false;
    case FaultKind::garbage:
      co_await send_raw(stream, "220 this is no web server\r\n\r\n");
      co_return false;
    case FaultKind::oversized_body:
      response.body().assign(1U << 20U, ' ');
      break;
    case FaultKind::endless_head:
      co_return co_await send_endless_head(stream);
    case FaultKind::drip:
      co_return co_await send_drop_by_drop(stream, fault.delay);
    case FaultKind::apply_then_delay:
      co_await wait(fault.delay);
      break;
    default:
      break;
  }
  co_return co_await send(stream, std::move(response));
}

bool is_refusal(const Fault& fault) {
  const bool bad_status = fault.status < 200 || fault.status > 299;
  return fault.kind == FaultKind::redirect || (fault.kind == FaultKind::status && bad_status);
}

Response refusal(const Fault& fault) {
  const int status = fault.kind == FaultKind::redirect ? 307 : fault.status;
  auto response = make_response(status, R"({"released":false})");
  if (status / 100 == 3) response.set(beast::http::field::location, "/stock/release");
  if (!fault.retry_after.empty()) {
    response.set(beast::http::field::retry_after, fault.retry_after);
  }
  return response;
}

AnswerNote note_of(const StockState& state, const Fault& fault) {
  const bool plain = fault.kind == FaultKind::none || fault.kind == FaultKind::slow;
  if (plain) return {"200", std::to_string(state.options.repeat_status)};
  const std::string name(to_string(fault.kind));
  return {name, name};
}

asio::awaitable<bool> serve_release(StockState& state, Stream& stream, Request request) {
  state.saw(seen(request));
  auto understood = understand(request);
  if (auto* response = std::get_if<Response>(&understood)) {
    response->keep_alive(request.keep_alive());
    co_return co_await send(stream, std::move(*response));
  }
  Release release = std::get<Release>(std::move(understood));
  const Fault fault = state.next_fault();
  if (fault.kind == FaultKind::hang) {
    co_await note_call(state, release.key, "hang");
    co_return co_await hang(stream);
  }
  if (is_refusal(fault)) {
    Response response = refusal(fault);
    co_await note_call(state, release.key, std::to_string(response.result_int()));
    co_return co_await send(stream, std::move(response));
  }
  if (fault.kind == FaultKind::slow) co_await wait(fault.delay);
  AnswerNote note = note_of(state, fault);
  const Applied applied = co_await apply(state, std::move(release), std::move(note));
  Response response = released(state, applied, fault);
  response.keep_alive(request.keep_alive());
  const bool open = co_await answer_applied(stream, std::move(response), fault);
  co_return open&& request.keep_alive();
}

Response books_page(const Totals& totals) {
  const json::object page{{"calls", totals.calls},
                          {"keys", totals.keys},
                          {"repeated_keys", totals.repeated_keys},
                          {"effects", totals.effects},
                          {"units", totals.units}};
  return make_response(200, json::serialize(page));
}

asio::awaitable<Totals> read_totals(StockState& state) {
  auto work = [books = state.books.get()] { return books->totals(); };
  return on_books(state, work);
}

Response change_fault(StockState& state, const Stream& stream, const Request& request) {
  const auto fault = parse_fault(request.body());
  if (!fault) return make_response(400, R"({"error":"not a fault"})");
  if (fault->kind == FaultKind::down && fault->lasts.count() <= 0) {
    return make_response(400, R"({"error":"down needs lasts_ms: nobody could end it"})");
  }
  state.set_fault(*fault, &stream);
  return make_response(200, "{}");
}

asio::awaitable<bool> answer(StockState& state, Stream& stream, Request request) {
  using beast::http::verb;
  if (request.method() == verb::post && request.target() == "/stock/release") {
    co_return co_await serve_release(state, stream, std::move(request));
  }
  if (request.method() == verb::get && request.target() == "/books") {
    const Totals totals = co_await read_totals(state);
    Response page = books_page(totals);
    co_return co_await send(stream, std::move(page));
  }
  Response response = make_response(404, "{}");
  if (request.method() == verb::post && request.target() == "/fault") {
    response = change_fault(state, stream, request);
  }
  co_return co_await send(stream, std::move(response));
}

}  // namespace

asio::awaitable<void> serve_stock(StockState& state, std::unique_ptr<Stream> stream) {
  const Presence presence(state, stream.get());
  beast::flat_buffer buffer;
  bool open = true;
  while (open) {
    beast::http::request_parser<beast::http::string_body> parser;
    parser.body_limit(kRequestBodyMax);
    const auto [error, got] = co_await beast::http::async_read(*stream, buffer, parser, kAwait);
    if (error) co_return;
    Request request = parser.release();
    open = co_await answer(state, *stream, std::move(request));
  }
}

}  // namespace order_timeout::stock
