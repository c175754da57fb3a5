#include "ctl/control_client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <system_error>

namespace order_timeout::ctl {
namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kAnswerBytesMax = std::size_t{4} << 20U;

class Socket {
 public:
  Socket() : number_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (number_ >= 0) ::close(number_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

Failure failure(const std::string& path, const std::string& why) {
  return Failure{FailureKind::unavailable, "no daemon answers on " + path + ": " + why, ""};
}

std::string error_text() { return std::generic_category().message(errno); }

bool connected(const Socket& socket, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  path.copy(address.sun_path, path.size());
  return ::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
         0;
}

// Up to the end of the line; nothing where it did not come in time.
std::string read_line(const Socket& socket, Clock::time_point until) {
  std::string line;
  std::array<char, 16'384> buffer{};
  while (line.size() < kAnswerBytesMax && !line.ends_with('\n')) {
    const auto left = std::chrono::duration_cast<Duration>(until - Clock::now()).count();
    pollfd readable{.fd = socket.number(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&readable, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return {};
    const ssize_t got = ::recv(socket.number(), buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    line.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return line;
}

}  // namespace

Result<json::object> ask_daemon(const std::string& socket, const json::object& question,
                                Duration patience) {
  const auto until = Clock::now() + patience;
  const Socket connection;
  if (!connected(connection, socket)) return failure(socket, error_text());
  const std::string line = json::serialize(question) + "\n";
  const ssize_t sent = ::send(connection.number(), line.data(), line.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(line.size())) return failure(socket, error_text());
  const std::string answer = read_line(connection, until);
  json::error_code error;
  json::value value = json::parse(answer, error);
  if (error || !value.is_object()) return failure(socket, "no answer in time");
  return value.as_object();
}

}  // namespace order_timeout::ctl
