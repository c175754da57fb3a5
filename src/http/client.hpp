// One HTTP/1.1 request at a time and place: connections to one host, kept alive and used again,
// every phase under a deadline, every size bounded. Redirects are not followed, nothing is
// decompressed, no proxy is asked.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "http/exchange.hpp"
#include "http/url.hpp"
#include "order_timeout/time.hpp"

namespace order_timeout::http {

// Used on one thread, the executor's. It outlives its requests.
class Client {
 public:
  struct Options {
    Url url;                          // host and port; a request brings its own target
    Duration connect_timeout{500};    // name look-up and connect together
    Duration read_timeout{1'500};     // from the first byte written to the last one read
    std::size_t idle_max = 16;        // connections kept for later; more are closed after use
    Duration idle_timeout{30'000};    // one that waited longer is closed instead of used
    std::uint32_t head_max = 16'384;  // bytes of an answer's head
    std::uint64_t body_max = 65'536;  // bytes of an answer's body
  };

  Client(boost::asio::any_io_executor executor, Options options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  // Ends within connect_timeout + read_timeout, plus what a connection found dead at its first byte
  // took. It is sent again, once and on a new connection, only where certainly nothing had been
  // sent.
  boost::asio::awaitable<HttpResult> request(HttpRequest request);

  std::size_t idle() const { return idle_.size(); }
  std::uint64_t opened() const { return opened_; }  // connections made since the start

 private:
  struct Connection;
  struct Lookup;
  using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;
  using SteadyTime = std::chrono::steady_clock::time_point;
  using Opened = std::variant<std::unique_ptr<Connection>, HttpFailure>;
  using Resolved = std::variant<Endpoints, HttpFailure>;

  boost::asio::awaitable<HttpResult> run(HttpRequest request);
  boost::asio::awaitable<Opened> open();
  boost::asio::awaitable<Resolved> resolve(SteadyTime deadline);
  boost::asio::awaitable<HttpResult> exchange(std::unique_ptr<Connection> connection,
                                              HttpRequest request);
  boost::asio::awaitable<HttpResult> read_answer(std::unique_ptr<Connection> connection);

  std::shared_ptr<Lookup> begin_lookup();
  std::unique_ptr<Connection> take_idle();
  void keep(std::unique_ptr<Connection> connection);

  boost::asio::any_io_executor executor_;
  Options options_;
  std::vector<std::unique_ptr<Connection>> idle_;  // the most recently used last
  std::vector<std::weak_ptr<Lookup>> lookups_;     // those the resolver has not answered yet
  std::uint64_t opened_ = 0;
};

}  // namespace order_timeout::http
