// A stock service as a shop may have one: POST /stock/release with an Idempotency-Key puts a closed
// order's pieces back, once a key. It can be told to fail in many ways, by the test that owns it or
// through POST /fault (see stock_fault.hpp); GET /books gives totals. Used by the tests and, as the
// program stock-service, by the quick start.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "support/stock_books.hpp"
#include "support/stock_fault.hpp"

namespace order_timeout::stock {

// One release call as it came in.
struct SeenRequest {
  std::map<std::string, std::string> headers;  // names in lower case
  std::string target;
  std::string body;
};

// Runs on threads of its own from construction to destruction. Every member may be called from any
// thread.
class StockService {
 public:
  struct Options {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;    // 0: a free one
    std::string database_url;  // empty: books in memory
    int repeat_status = 409;   // answer to a key that was applied before
    int book_threads = 4;      // releases written at once
  };

  StockService();  // in memory, on a free port
  // Throws where the address or the database cannot be had.
  explicit StockService(Options options);
  StockService(const StockService&) = delete;
  StockService& operator=(const StockService&) = delete;
  ~StockService();

  std::uint16_t port() const;
  std::string url() const;  // of the release

  // Holds when it returns, for every call that comes in from then on.
  void set_fault(const Fault& fault);
  void clear_fault() { set_fault(Fault{}); }

  Totals totals() const;
  std::int64_t calls(const std::string& key) const;
  std::int64_t effects(const std::string& key) const;
  std::int64_t connections() const;  // accepted since the start
  SeenRequest last_request() const;  // the last release call
  // Waits until `count` release calls have come in since the start; false when `patience` ends
  // first.
  bool wait_for_calls(std::int64_t count, std::chrono::milliseconds patience) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace order_timeout::stock
