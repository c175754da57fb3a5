// The sample shop at work: one thread takes orders at a steady rate, two take payments when they
// fall due, and the caller's thread looks at what became of the orders. Each has a connection of
// its own; the ledger is shared.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "support/shop_database.hpp"
#include "support/shop_reminders.hpp"

namespace order_timeout::shop {

class Floor {
 public:
  struct Options {
    std::string database;
    std::string redis;  // empty: none
    std::string zset;
    double orders_per_second = 50;
    std::size_t orders_max = 1'000'000;  // the ledger's bound: then no further order is taken
    std::vector<Line> lines;
    Duration grace{};
    std::uint64_t seed = 1;
  };

  // Connects, and throws where that fails.
  explicit Floor(Options options);
  ~Floor();

  void open();
  // No further order; payments go on.
  void stop_orders();
  // Nothing further at all. Returns once both kinds of threads have ended.
  void close();

  // Asks the database what became of the orders that are still watched.
  void look();
  // Every unpaid order is closed, its stock is back, and no event is left to deliver.
  bool settled();
  std::string progress(Duration open);

  // Why a thread gave up: the shop cannot go on without its database.
  std::optional<std::string> failure();

  // After close(): the ledger, and the database held against it.
  const Ledger& ledger() const { return ledger_; }
  std::vector<std::string> differences();

 private:
  using Time = std::chrono::system_clock::time_point;
  struct DuePayment {
    Time at;
    PlacedOrder order;
    bool operator>(const DuePayment& other) const { return at > other.at; }
  };

  void take_orders(const std::stop_token& stop);
  Receipt take_order(ShopDatabase& database, const std::string& number, const Basket& basket);
  void take_payments(const std::stop_token& stop);
  void take_payment(ShopDatabase& database, const PlacedOrder& order);
  std::optional<PlacedOrder> next_payment(const std::stop_token& stop);
  void guarded(void (Floor::*work)(const std::stop_token&), const std::stop_token& stop);

  Options options_;
  ShopDatabase watcher_;
  std::mutex mutex_;  // guards all below but the threads
  std::condition_variable_any changed_;
  Ledger ledger_;
  std::priority_queue<DuePayment, std::vector<DuePayment>, std::greater<>> payments_;
  std::optional<std::string> failure_;
  std::optional<OrderId> first_;
  std::vector<std::int64_t> skus_;
  std::jthread counter_;
  std::vector<std::jthread> cashiers_;
};

}  // namespace order_timeout::shop
