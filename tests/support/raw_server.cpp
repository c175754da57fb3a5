#include "support/raw_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace order_timeout::test {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int listen_on_free_port(int backlog) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(0);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, backlog) != 0) {
    throw std::system_error(errno, std::generic_category(), "listen");
  }
  return listener;
}

std::uint16_t port_of(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

}  // namespace

RawServer::RawServer(std::string answer, Reading reading)
    : answer_(std::move(answer)), reading_(reading), listener_(listen_on_free_port(16)) {
  port_ = port_of(listener_);
  if (::pipe2(stop_, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  if (reading_ == Reading::whole_head) thread_ = std::thread([this] { serve(); });
}

RawServer::~RawServer() {
  ::close(stop_[1]);
  if (thread_.joinable()) thread_.join();
  ::close(stop_[0]);
  ::close(listener_);
}

void RawServer::serve() {
  while (true) {
    std::array<pollfd, 2> waiting{pollfd{stop_[0], POLLIN, 0}, pollfd{listener_, POLLIN, 0}};
    ::poll(waiting.data(), waiting.size(), -1);
    if (waiting[0].revents != 0) return;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    answer_one(client);
    ::close(client);
  }
}

void RawServer::answer_one(int client) {
  std::string request;
  std::array<char, 4'096> bytes{};
  while (request.find("\r\n\r\n") == std::string::npos) {
    std::array<pollfd, 2> waiting{pollfd{stop_[0], POLLIN, 0}, pollfd{client, POLLIN, 0}};
    ::poll(waiting.data(), waiting.size(), -1);
    const auto got = ::recv(client, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (waiting[0].revents != 0 || got <= 0) return;
    request.append(bytes.data(), static_cast<std::size_t>(got));
  }
  ++requests_;
  ::send(client, answer_.data(), answer_.size(), MSG_NOSIGNAL);
}

FullBacklog::FullBacklog() : listener_(listen_on_free_port(0)) {
  port_ = port_of(listener_);
  const sockaddr_in address = loopback(port_);
  for (int& client : clients_) {
    client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // In progress, or in the queue: either way one place less.
    (void)::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
}

FullBacklog::~FullBacklog() {
  for (const int client : clients_) ::close(client);
  ::close(listener_);
}

}  // namespace order_timeout::test
