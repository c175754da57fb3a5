#include "daemon/control_socket.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <exception>
#include <set>
#include <system_error>
#include <utility>

namespace order_timeout::daemon {
namespace {

namespace asio = boost::asio;
using Protocol = asio::local::stream_protocol;
using ErrorCode = boost::system::error_code;
using namespace std::chrono_literals;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr auto kAcceptPause = 200ms;  // after an accept that failed, so that the loop does not spin
constexpr auto kToRead = 5s;          // for the request to arrive
constexpr auto kToWrite = 5s;         // for the answer to be taken
constexpr mode_t kMode = 0660;        // owner and group, by whoever may enter the directory

void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(std::move(error));
}

// Cuts its socket when the time is up.
class Deadline {
 public:
  explicit Deadline(std::shared_ptr<Protocol::socket> socket)
      : socket_(std::move(socket)), timer_(socket_->get_executor()) {}
  void set(std::chrono::steady_clock::duration longest) {
    timer_.expires_after(longest);
    timer_.async_wait([socket = socket_](const ErrorCode& error) {
      ErrorCode ignored;
      if (!error) socket->close(ignored);
    });
  }
  void lift() { timer_.cancel(); }

 private:
  std::shared_ptr<Protocol::socket> socket_;  // the callback may come after us
  asio::steady_timer timer_;
};

}  // namespace

struct ControlSocket::State {
  State(asio::any_io_executor its_executor, std::string its_path, Answer its_answer)
      : executor(std::move(its_executor)),
        path(std::move(its_path)),
        answer(std::move(its_answer)),
        acceptor(executor),
        pause(executor) {}

  static asio::awaitable<void> accept(std::shared_ptr<State> state);
  static asio::awaitable<void> serve(std::shared_ptr<State> state,
                                     std::shared_ptr<Protocol::socket> client);
  Failure refusal(const std::string& why) const {
    return Failure{FailureKind::unavailable, "admin.socket " + path + ": " + why, ""};
  }
  bool somebody_listens() const;
  Result<Done> listen();

  asio::any_io_executor executor;
  std::string path;
  Answer answer;
  Protocol::acceptor acceptor;
  asio::steady_timer pause;  // what accept() waits on while it may not accept
  std::set<std::shared_ptr<Protocol::socket>> clients;
  bool listening = false;
  bool stopped = false;
};

asio::awaitable<void> ControlSocket::State::accept(std::shared_ptr<State> state) {
  while (!state->stopped) {
    if (state->clients.size() >= kClientsMax) {
      state->pause.expires_at(asio::steady_timer::time_point::max());
      co_await state->pause.async_wait(kAwait);
      continue;
    }
    auto client = std::make_shared<Protocol::socket>(state->executor);
    const auto [error] = co_await state->acceptor.async_accept(*client, kAwait);
    if (state->stopped) co_return;
    if (error) {
      state->pause.expires_after(kAcceptPause);
      co_await state->pause.async_wait(kAwait);
      continue;
    }
    state->clients.insert(client);
    asio::co_spawn(state->executor, serve(state, std::move(client)), rethrow);
  }
}

asio::awaitable<void> ControlSocket::State::serve(std::shared_ptr<State> state,
                                                  std::shared_ptr<Protocol::socket> client) {
  std::string line;
  Deadline deadline(client);
  deadline.set(kToRead);
  auto buffer = asio::dynamic_buffer(line, kRequestBytesMax);
  const auto [error, length] = co_await asio::async_read_until(*client, buffer, '\n', kAwait);
  deadline.lift();
  if (!error && !state->stopped) {
    line.resize(length - 1);
    std::string text = co_await state->answer(std::move(line));
    text += '\n';
    if (client->is_open()) {
      deadline.set(kToWrite);
      auto words = asio::buffer(text);
      co_await asio::async_write(*client, words, kAwait);
      deadline.lift();
    }
  }
  ErrorCode ignored;
  client->close(ignored);
  state->clients.erase(client);
  state->pause.cancel();
}

bool ControlSocket::State::somebody_listens() const {
  Protocol::socket probe(executor);
  ErrorCode error;
  probe.connect(Protocol::endpoint(path), error);
  return !error;
}

Result<Done> ControlSocket::State::listen() {
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return refusal("longer than the name of a socket may be");
  }
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0) {
    if (!S_ISSOCK(found.st_mode)) return refusal("there is a file that is no socket");
    if (somebody_listens()) return refusal("another daemon listens there");
    ::unlink(path.c_str());
  }
  ErrorCode error;
  acceptor.open(Protocol(), error);
  // Before bind, so that there is no moment in which others may connect.
  if (!error && ::fchmod(acceptor.native_handle(), kMode) != 0) {
    return refusal(std::generic_category().message(errno));
  }
  if (!error) acceptor.bind(Protocol::endpoint(path), error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return refusal(error.message());
  ::chmod(path.c_str(), kMode);  // where the umask took the group's rights
  listening = true;
  return Done{};
}

ControlSocket::ControlSocket(asio::any_io_executor executor, std::string path, Answer answer)
    : state_(std::make_shared<State>(std::move(executor), std::move(path), std::move(answer))) {}

ControlSocket::~ControlSocket() { stop(); }

Result<Done> ControlSocket::start() {
  Result<Done> listening = state_->listen();
  if (!listening) {
    ErrorCode ignored;
    state_->acceptor.close(ignored);
    return listening;
  }
  asio::co_spawn(state_->executor, State::accept(state_), rethrow);
  return listening;
}

void ControlSocket::stop() {
  state_->stopped = true;
  ErrorCode ignored;
  state_->acceptor.close(ignored);
  if (std::exchange(state_->listening, false)) ::unlink(state_->path.c_str());
  state_->pause.cancel();
  for (const auto& client : state_->clients) client->close(ignored);
}

}  // namespace order_timeout::daemon
