// The sample shop's transactions on PostgreSQL, as a shop would write them: an order takes its
// stock in the transaction that places it, a payment is a compare-and-set from WAIT_PAY. One
// connection, one thread. Throws the exceptions of libpqxx; a deadlock is tried again here.
#pragma once

#include <cstdint>
#include <pqxx/connection>
#include <string>
#include <vector>

#include "support/shop_ledger.hpp"

namespace order_timeout::shop {

struct Receipt {
  PlacedOrder order;
  Instant created{};  // rounded down, so that a reminder's score is never later than the deadline
  std::vector<Item> restocked;  // deliveries that the order had to wait for
};

enum class PayAnswer { paid, found_closed, found_otherwise };

class ShopDatabase {
 public:
  explicit ShopDatabase(const std::string& url);

  // A shop without any stock gets its first delivery.
  void fill_empty_shelves();
  Stocks stocks();
  Receipt place(const std::string& order_no, const Basket& basket);
  PayAnswer pay(const PlacedOrder& order);

  // Those of `watched` that are closed, or whose stock is back. Lateness is that of the commit
  // where the server keeps commit timestamps (track_commit_timestamp), else that of closed_at and
  // released_at.
  std::vector<Sighting> closed_of(const std::vector<Watch>& watched);
  std::vector<Sighting> released_of(const std::vector<Watch>& watched);
  std::int64_t claimable_events();

  // All orders from `first` on, their events and releases and the stock, in one snapshot.
  Observed observe(OrderId first);

 private:
  std::vector<Sighting> sightings(const std::string& query, const std::vector<Watch>& watched);

  pqxx::connection connection_;
  bool commit_times_ = false;
};

}  // namespace order_timeout::shop
