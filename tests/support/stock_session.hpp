// Inside of the stock service: what its connections share, and one connection's life.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "support/stock_service.hpp"

namespace order_timeout::stock {

// Touched on the loop's thread only, but for what the mutex guards and the books.
class StockState {
 public:
  StockState(StockService::Options options, std::unique_ptr<StockBooks> books);

  // Binds and listens. Throws where that fails.
  void open();
  void set_fault(const Fault& fault, const boost::beast::tcp_stream* spared);
  // The fault that strikes the release call just begun.
  Fault next_fault();
  void saw(SeenRequest request);
  boost::asio::awaitable<void> accept();

  StockService::Options options;
  std::unique_ptr<StockBooks> books;

  mutable std::mutex mutex;
  mutable std::condition_variable called;
  std::int64_t calls = 0;
  std::int64_t connections = 0;
  SeenRequest last;

  std::set<boost::beast::tcp_stream*> sessions;

 private:
  bool bind();
  void go_down(const boost::beast::tcp_stream* spared);
  void come_up();

  Fault fault_;
  std::int64_t calls_under_fault_ = 0;
  bool listening_ = false;

 public:
  // Last, so that coroutines that are still waiting end before what they use, and the threads
  // before the loop.
  boost::asio::io_context loop{1};

 private:
  boost::asio::ip::tcp::acceptor acceptor_{loop};
  boost::asio::steady_timer up_{loop};        // what accept() waits on while down
  boost::asio::steady_timer recovery_{loop};  // ends a fault that lasts

 public:
  boost::asio::thread_pool book_threads;
};

// Serves one connection until it is closed by either side.
boost::asio::awaitable<void> serve_stock(StockState& state,
                                         std::unique_ptr<boost::beast::tcp_stream> stream);

}  // namespace order_timeout::stock
