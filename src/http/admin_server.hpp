// The daemon's small HTTP face, for Prometheus and load balancers: GET /metrics, /healthz and
// /readyz. It answers on the loop, so that any answer proves that the loop turns. No order data.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "order_timeout/outcome.hpp"

namespace order_timeout::http {

struct Readiness {
  bool ready = false;
  std::string reason;  // one line
};

// What the pages say. Called on the loop, once a request.
struct AdminPages {
  std::function<std::string()> metrics;  // Prometheus text
  std::function<Readiness()> readiness;
};

// One request a connection. Used on the executor's thread only.
class AdminServer {
 public:
  struct Options {
    std::string listen;            // HOST:PORT, [ADDRESS6]:PORT; port 0 takes a free one
    std::size_t clients_max = 16;  // more wait in the kernel's queue until one has left
    Duration idle_timeout{
        5'000};  // for the request to arrive, and again for the answer to be taken
  };

  AdminServer(boost::asio::any_io_executor executor, Options options, AdminPages pages);
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;
  ~AdminServer();  // stops

  // Binds and begins to answer. Unavailable where the address cannot be had, rejected where it is
  // none.
  Result<Done> start();
  // Closes the port and every connection. May come before start, and twice.
  void stop();
  // What it listens on; 0 before start.
  std::uint16_t port() const;

 private:
  struct State;
  // Shared with the connections' coroutines, which end one turn of the loop after stop().
  std::shared_ptr<State> state_;
};

}  // namespace order_timeout::http
