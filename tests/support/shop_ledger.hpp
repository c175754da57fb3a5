// The sample shop's own books. They are written from what the shop's own transactions answered,
// never from what the daemon says, and are held against the database at the end: every difference
// is named. Pure and not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "order_timeout/order.hpp"
#include "support/shop_customers.hpp"

namespace order_timeout::shop {

struct Stock {
  std::int64_t available = 0;
  std::int64_t reserved = 0;

  friend bool operator==(const Stock&, const Stock&) = default;
};
using Stocks = std::map<std::int64_t, Stock>;  // by SKU

struct PlacedOrder {
  OrderId id = 0;
  Instant close_from{};    // deadline + grace
  Duration close_after{};  // the same, counted from its creation
  std::vector<Item> items;
};

// An order whose fate the shop still asks the database about.
struct Watch {
  OrderId id = 0;
  Duration close_after{};
};

// One order that the database says is closed, or whose stock it says is back; `late` counts from
// deadline + grace; negative: too early.
struct Sighting {
  OrderId id = 0;
  Duration late{};
};

// What the database holds of the shop's orders when the books are closed.
struct Observed {
  struct Order {
    std::string status;
    int events = 0;  // release events in the outbox, of any status
    int events_done = 0;
    int releases = 0;  // rows of the stock service
  };
  std::map<OrderId, Order> orders;
  Stocks stocks;
  std::int64_t claimable_events = 0;  // PENDING or UNCERTAIN, of whatever order
  Instant now{};
};

struct Figures {
  std::size_t placed = 0, paid = 0, waiting = 0, closed = 0, released = 0, late_payments = 0;
  std::int64_t units_released = 0, units_sold = 0;
};

// Sorted on demand; `at(1.0)` is the largest, 0 of nothing.
class Lateness {
 public:
  void add(Duration late) { values_.push_back(late.count()); }
  Duration at(double quantile) const;
  Duration least() const;
  bool empty() const { return values_.empty(); }

 private:
  std::vector<std::int64_t> values_;
};

class Ledger {
 public:
  // The stock on the shelves before the first order.
  explicit Ledger(Stocks opening);

  void placed(PlacedOrder order);
  void restocked(std::int64_t sku, std::int64_t quantity);
  void paid(OrderId id);
  // The payment's compare-and-set found the order CLOSED: the money goes back.
  void paid_too_late();
  // A transaction of the shop got an answer that no shop should get; a difference at the end.
  void unexpected(std::string what);

  std::vector<Watch> waiting() const { return watches(waiting_); }
  std::vector<Watch> closed_unreleased() const { return watches(unreleased_); }
  void saw_closed(Sighting sighting);
  void saw_released(Sighting sighting);

  bool settled() const { return waiting_.empty() && unreleased_.empty(); }
  const Stocks& stocks() const { return stocks_; }
  Figures figures() const;
  const Lateness& close_lateness() const { return close_lateness_; }
  const Lateness& release_lateness() const { return release_lateness_; }

  // Every way in which the database differs from the books; empty: balanced. For a shop that has
  // waited long enough: every unpaid order has to be closed and every event done.
  std::vector<std::string> differences(const Observed& observed) const;

 private:
  enum class State : std::uint8_t { waiting, paid, closed };
  struct Entry {
    PlacedOrder order;
    State state = State::waiting;
    bool released = false;
  };
  static void compare_order(const Entry& entry, const Observed& observed,
                            std::vector<std::string>& found);

  std::vector<Watch> watches(const std::unordered_set<OrderId>& ids) const;
  void move_stock(const Entry& entry, bool to_shelf);
  void compare_stock(const Observed& observed, std::vector<std::string>& found) const;
  void judge_lateness(std::vector<std::string>& found) const;

  std::map<OrderId, Entry> entries_;
  std::unordered_set<OrderId> waiting_, unreleased_;
  Stocks stocks_;
  Figures figures_;
  Lateness close_lateness_, release_lateness_;
  std::vector<std::string> unexpected_;
};

}  // namespace order_timeout::shop
