// A server that answers every request with the same bytes, valid HTTP or not, and closes.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace order_timeout::test {

// On 127.0.0.1, on a thread of its own; one connection after the other.
class RawServer {
 public:
  enum class Reading : bool { whole_head, nothing };

  // Throws where it cannot listen. With Reading::nothing it accepts, never reads and never answers.
  explicit RawServer(std::string answer, Reading reading = Reading::whole_head);
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  ~RawServer();

  std::uint16_t port() const { return port_; }
  int requests() const { return requests_; }

 private:
  void serve();
  void answer_one(int client);

  std::string answer_;
  Reading reading_;
  std::atomic<int> requests_ = 0;
  int listener_ = -1;
  int stop_[2] = {-1, -1};  // a pipe: written to once, to end the thread
  std::uint16_t port_ = 0;
  std::thread thread_;
};

// A port whose queue of connections is full: the next connect waits for ever.
class FullBacklog {
 public:
  FullBacklog();
  FullBacklog(const FullBacklog&) = delete;
  FullBacklog& operator=(const FullBacklog&) = delete;
  ~FullBacklog();

  std::uint16_t port() const { return port_; }

 private:
  static constexpr int kClients = 4;

  int listener_ = -1;
  int clients_[kClients] = {-1, -1, -1, -1};
  std::uint16_t port_ = 0;
};

}  // namespace order_timeout::test
