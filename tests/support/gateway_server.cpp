#include "support/gateway_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace order_timeout::testing {
namespace {

constexpr const char* kPath = "GET /pay/";

std::string http_answer(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
         "Content-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string order_no_of(const std::string& request) {
  const std::string path(kPath);
  if (!request.starts_with(path)) return "";
  return request.substr(path.size(), request.find(' ', path.size()) - path.size());
}

}  // namespace

GatewayServer::GatewayServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 256) != 0 || ::pipe2(stop_, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "gateway");
  }
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

GatewayServer::~GatewayServer() {
  ::close(stop_[1]);
  thread_.join();
  for (std::thread& client : clients_) client.join();
  ::close(stop_[0]);
  ::close(listener_);
}

std::string GatewayServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/pay/{order_no}";
}

void GatewayServer::say(const std::string& word) {
  const std::lock_guard lock(mutex_);
  word_ = word;
}

void GatewayServer::say(const std::string& order_no, const std::string& word) {
  answer(order_no, http_answer("{\"status\":\"" + word + "\"}"));
}

void GatewayServer::answer(const std::string& order_no, const std::string& bytes) {
  const std::lock_guard lock(mutex_);
  answers_[order_no] = bytes;
}

void GatewayServer::fall_silent() { silent_ = true; }
void GatewayServer::speak() { silent_ = false; }

int GatewayServer::calls(const std::string& order_no) const {
  const std::lock_guard lock(mutex_);
  const auto found = calls_of_.find(order_no);
  return found == calls_of_.end() ? 0 : found->second;
}

int GatewayServer::most_at_once() const {
  const std::lock_guard lock(mutex_);
  return most_at_once_;
}

void GatewayServer::serve() {
  while (true) {
    std::array<pollfd, 2> waiting{pollfd{stop_[0], POLLIN, 0}, pollfd{listener_, POLLIN, 0}};
    ::poll(waiting.data(), waiting.size(), -1);
    if (waiting[0].revents != 0) return;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) clients_.emplace_back([this, client] { take(client); });
  }
}

void GatewayServer::take(int client) {
  std::string request;
  if (await_request(client, request)) {
    const std::string bytes = answer_to(order_no_of(request));
    if (silent_) {
      // Until the caller gives up, or we end.
      std::array<pollfd, 2> waiting{pollfd{stop_[0], POLLIN, 0}, pollfd{client, POLLIN, 0}};
      ::poll(waiting.data(), waiting.size(), -1);
    } else {
      ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    const std::lock_guard lock(mutex_);
    at_once_ -= 1;
  }
  ::close(client);
}

bool GatewayServer::await_request(int client, std::string& request) const {
  std::array<char, 4'096> bytes{};
  while (request.find("\r\n\r\n") == std::string::npos) {
    std::array<pollfd, 2> waiting{pollfd{stop_[0], POLLIN, 0}, pollfd{client, POLLIN, 0}};
    ::poll(waiting.data(), waiting.size(), -1);
    const auto got = ::recv(client, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (waiting[0].revents != 0 || got <= 0) return false;
    request.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return true;
}

std::string GatewayServer::answer_to(const std::string& order_no) {
  ++calls_;
  const std::lock_guard lock(mutex_);
  ++calls_of_[order_no];
  most_at_once_ = std::max(most_at_once_, ++at_once_);
  const auto own = answers_.find(order_no);
  return own == answers_.end() ? http_answer("{\"status\":\"" + word_ + "\"}") : own->second;
}

}  // namespace order_timeout::testing
