// A payment gateway as a shop may have one: GET /pay/ORDER_NO is answered by {"status":"…"}, or by
// whatever the test wants, and counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace order_timeout::testing {

// On 127.0.0.1, on threads of its own. Every member may be called from any thread.
class GatewayServer {
 public:
  GatewayServer();  // answers NONE
  GatewayServer(const GatewayServer&) = delete;
  GatewayServer& operator=(const GatewayServer&) = delete;
  ~GatewayServer();

  // With {order_no} in it, for the configuration.
  std::string url() const;

  // Holds for calls that come in from then on. For all orders without a word of their own.
  void say(const std::string& word);
  void say(const std::string& order_no, const std::string& word);
  // The whole answer, HTTP or not.
  void answer(const std::string& order_no, const std::string& bytes);
  // Takes calls and answers none, for all orders, until it speaks again.
  void fall_silent();
  void speak();

  int calls() const { return calls_; }
  int calls(const std::string& order_no) const;
  int most_at_once() const;

 private:
  void serve();
  void take(int client);
  bool await_request(int client, std::string& request) const;
  std::string answer_to(const std::string& order_no);

  mutable std::mutex mutex_;
  std::string word_ = "NONE";
  std::map<std::string, std::string> answers_;
  std::map<std::string, int> calls_of_;
  int at_once_ = 0;
  int most_at_once_ = 0;
  std::atomic<bool> silent_ = false;
  std::atomic<int> calls_ = 0;
  int listener_ = -1;
  int stop_[2] = {-1, -1};  // a pipe: closed once, to end the threads
  std::uint16_t port_ = 0;
  std::vector<std::thread> clients_;  // grows on the serving thread only
  std::thread thread_;
};

}  // namespace order_timeout::testing
