// The control socket: a unix socket beside the daemon, for its owner and group. One request a
// connection: a line of JSON each way. Bounded in clients, size and time.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "order_timeout/outcome.hpp"

namespace order_timeout::daemon {

// Used on the executor's thread only.
class ControlSocket {
 public:
  // What to answer to a line, both without their '\n'. Called on the loop.
  using Answer = std::function<boost::asio::awaitable<std::string>(std::string line)>;

  static constexpr std::size_t kClientsMax = 8;  // more wait in the kernel's queue
  static constexpr std::size_t kRequestBytesMax = 4'096;

  ControlSocket(boost::asio::any_io_executor executor, std::string path, Answer answer);
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  ~ControlSocket();  // stops

  // Takes the place of a socket that nobody listens on any more. The failure's detail names path
  // and reason; another daemon that listens there is one.
  Result<Done> start();
  // Closes and removes it; answers under way are not waited for. May come before start, and twice.
  void stop();

 private:
  struct State;
  // Shared with the connections' coroutines, which end one turn of the loop after stop().
  std::shared_ptr<State> state_;
};

}  // namespace order_timeout::daemon
