#include "support/tcp_proxy.hpp"

#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace order_timeout::test {
namespace {

namespace asio = boost::asio;
using Stream = asio::generic::stream_protocol;
using Socket = Stream::socket;
using Acceptor = asio::basic_socket_acceptor<Stream>;
using ErrorCode = boost::system::error_code;

Stream::endpoint endpoint_of(const ProxyAddress& address) {
  if (!address.path.empty()) return asio::local::stream_protocol::endpoint(address.path);
  return asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), address.port);
}

Stream protocol_of(const ProxyAddress& address) {
  return address.path.empty() ? Stream(AF_INET, IPPROTO_TCP) : Stream(AF_UNIX, 0);
}

struct Session {
  explicit Session(asio::io_context& context) : client(context), server(context) {}

  Socket& from(Way way) { return way == Way::to_server ? client : server; }
  Socket& to(Way way) { return way == Way::to_server ? server : client; }

  void close() {
    ErrorCode ignored;
    client.close(ignored);
    server.close(ignored);
  }

  Socket client;
  Socket server;
  std::string seen;   // the end of what the client has sent, where a text may have begun
  bool mute = false;  // the client is cut off; what the server still says is thrown away
  int open_directions = 2;
};
using SessionPtr = std::shared_ptr<Session>;

struct TextCut {
  std::string text;
  LastBytes last_bytes = LastBytes::lost;
};

// What to do with a chunk.
struct Verdict {
  std::size_t forward = 0;
  bool cut = false;
};

}  // namespace

class TcpProxy::Loop {
 public:
  explicit Loop(ProxyRoute route)
      : route_(std::move(route)), work_(context_.get_executor()), acceptor_(context_) {
    listen();
    thread_ = std::thread([this] { context_.run(); });
  }

  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  ~Loop() {
    context_.stop();
    thread_.join();
    if (!route_.listen.path.empty()) unlink(route_.listen.path.c_str());
  }

  // Runs `change` on the loop and waits for it.
  template <class Change>
  auto on_loop(Change change) {
    using Value = decltype(change());
    std::packaged_task<Value()> task(std::move(change));
    auto done = task.get_future();
    asio::post(context_, [&task] { task(); });
    return done.get();
  }

  void listen() {
    if (!route_.listen.path.empty()) unlink(route_.listen.path.c_str());
    acceptor_.open(protocol_of(route_.listen));
    acceptor_.set_option(asio::socket_base::reuse_address(true));
    acceptor_.bind(endpoint_of(route_.listen));
    acceptor_.listen();
    if (route_.listen.path.empty()) route_.listen.port = bound_port();
    asio::co_spawn(context_, accept_all(), asio::detached);
  }

  void cut_all() {
    for (const SessionPtr& session : sessions_) session->close();
  }

  void report_cut() {
    const std::lock_guard lock(mutex_);
    has_cut_ = true;
    cut_happened_.notify_all();
  }

  void forget_cut() {
    const std::lock_guard lock(mutex_);
    has_cut_ = false;
  }

  bool wait_for_cut(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return cut_happened_.wait_for(lock, limit, [this] { return has_cut_; });
  }

  ProxyRoute route_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  Acceptor acceptor_;
  std::vector<SessionPtr> sessions_;
  std::size_t accepted_ = 0;
  std::array<std::chrono::milliseconds, 2> delay_{};
  bool swallow_ = false;
  std::array<std::optional<std::size_t>, 2> bytes_until_cut_;
  std::optional<TextCut> text_cut_;

 private:
  std::uint16_t bound_port() const {
    const auto endpoint = acceptor_.local_endpoint();
    sockaddr_in address{};
    std::copy_n(reinterpret_cast<const char*>(endpoint.data()), sizeof(address),
                reinterpret_cast<char*>(&address));
    return ntohs(address.sin_port);
  }

  asio::awaitable<void> accept_all() {
    for (;;) {
      const auto session = std::make_shared<Session>(context_);
      auto accepted = acceptor_.async_accept(session->client, asio::as_tuple(asio::use_awaitable));
      const auto [error] = co_await std::move(accepted);
      if (error) co_return;
      ++accepted_;
      asio::co_spawn(context_, serve(session), asio::detached);
    }
  }

  asio::awaitable<void> serve(SessionPtr session) {
    sessions_.push_back(session);
    const auto target = endpoint_of(route_.target);
    auto connecting = session->server.async_connect(target, asio::as_tuple(asio::use_awaitable));
    const auto [error] = co_await std::move(connecting);
    if (error) {
      session->close();
      std::erase(sessions_, session);
      co_return;
    }
    asio::co_spawn(context_, pump(session, Way::to_server), asio::detached);
    asio::co_spawn(context_, pump(session, Way::to_client), asio::detached);
  }

  asio::awaitable<void> pump(SessionPtr session, Way way) {
    std::vector<char> chunk(std::size_t{16} * 1024);
    for (;;) {
      auto reading = session->from(way).async_read_some(asio::buffer(chunk),
                                                        asio::as_tuple(asio::use_awaitable));
      const auto [error, size] = co_await std::move(reading);
      if (error) break;
      co_await wait(way);
      const Verdict verdict = judge(*session, way, std::string_view(chunk.data(), size));
      auto writing =
          asio::async_write(session->to(way), asio::buffer(chunk.data(), verdict.forward),
                            asio::as_tuple(asio::use_awaitable));
      const auto [write_error, written] = co_await std::move(writing);
      if (verdict.cut) cut(*session);
      if (write_error || written < verdict.forward) break;
    }
    finish(session, way);
  }

  asio::awaitable<void> wait(Way way) {
    const auto delay = delay_.at(static_cast<std::size_t>(way));
    if (delay.count() == 0) co_return;
    asio::steady_timer timer(context_, delay);
    auto waiting = timer.async_wait(asio::as_tuple(asio::use_awaitable));
    co_await std::move(waiting);
  }

  Verdict judge(Session& session, Way way, std::string_view chunk) {
    if (way == Way::to_client && (swallow_ || session.mute)) return {0, false};
    auto& left = bytes_until_cut_.at(static_cast<std::size_t>(way));
    if (left && chunk.size() >= *left) return {*std::exchange(left, std::nullopt), true};
    if (left) *left -= chunk.size();
    if (way == Way::to_server && text_cut_ && client_has_sent(session, chunk, text_cut_->text)) {
      const auto last_bytes = std::exchange(text_cut_, std::nullopt)->last_bytes;
      return {last_bytes == LastBytes::forwarded ? chunk.size() : 0, true};
    }
    return {chunk.size(), false};
  }

  static bool client_has_sent(Session& session, std::string_view chunk, std::string_view text) {
    session.seen.append(chunk);
    const bool found = session.seen.find(text) != std::string::npos;
    const std::size_t keep = std::min(session.seen.size(), text.size() - 1);
    session.seen.erase(0, session.seen.size() - keep);
    return found;
  }

  // The server gets the end only after all bytes before it: a reset could overtake them.
  void cut(Session& session) {
    session.mute = true;
    ErrorCode ignored;
    session.client.close(ignored);
    session.server.shutdown(Socket::shutdown_send, ignored);
    report_cut();
  }

  void finish(const SessionPtr& session, Way way) {
    ErrorCode ignored;
    session->to(way).shutdown(Socket::shutdown_send, ignored);
    if (--session->open_directions > 0) return;
    session->close();
    std::erase(sessions_, session);
  }

  std::mutex mutex_;  // of the two below: the only state that a caller's thread reads by itself
  std::condition_variable cut_happened_;
  bool has_cut_ = false;
  std::thread thread_;
};

TcpProxy::TcpProxy(const ProxyRoute& route) : loop_(std::make_unique<Loop>(route)) {}
TcpProxy::~TcpProxy() = default;

std::uint16_t TcpProxy::port() const { return loop_->route_.listen.port; }

void TcpProxy::cut_all() {
  loop_->on_loop([this] { loop_->cut_all(); });
}

void TcpProxy::refuse_new() {
  loop_->on_loop([this] { loop_->acceptor_.close(); });
}

void TcpProxy::accept_new() {
  loop_->on_loop([this] { loop_->listen(); });
}

void TcpProxy::delay(Way way, std::chrono::milliseconds each_chunk) {
  loop_->on_loop(
      [this, way, each_chunk] { loop_->delay_.at(static_cast<std::size_t>(way)) = each_chunk; });
}

void TcpProxy::swallow_answers(bool swallow) {
  loop_->on_loop([this, swallow] { loop_->swallow_ = swallow; });
}

void TcpProxy::cut_after(Way way, std::size_t bytes) {
  loop_->on_loop(
      [this, way, bytes] { loop_->bytes_until_cut_.at(static_cast<std::size_t>(way)) = bytes; });
}

void TcpProxy::cut_when_client_sends(std::string text, LastBytes last_bytes) {
  loop_->on_loop([this, cut = TextCut{std::move(text), last_bytes}] {
    loop_->forget_cut();
    loop_->text_cut_ = cut;
  });
}

bool TcpProxy::wait_for_cut(std::chrono::milliseconds limit) { return loop_->wait_for_cut(limit); }

std::size_t TcpProxy::connections() const {
  return loop_->on_loop([this] { return loop_->sessions_.size(); });
}

std::size_t TcpProxy::accepted() const {
  return loop_->on_loop([this] { return loop_->accepted_; });
}

}  // namespace order_timeout::test
