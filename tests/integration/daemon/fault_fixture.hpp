// For the tests of faults in what the daemon depends on: a shop that takes orders without pause,
// and what is judged of their closes.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "support/shop_fixture.hpp"

namespace order_timeout::testing {

class FaultFixture : public ShopFixture {
 protected:
  static constexpr int kOrdersEachTime = 5;
  static constexpr std::chrono::milliseconds kBetween{100};

  using ShopFixture::ShopFixture;

  // 50 orders a second for so long; `after` is told of each five.
  void keep_ordering(std::chrono::milliseconds how_long,
                     const std::function<void(PlacedOrders)>& after = {}) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + how_long;
    for (auto next = Clock::now(); next < end; next = std::max(next + kBetween, Clock::now())) {
      await([&] { return Clock::now() >= next; });
      const PlacedOrders placed = place_orders(kOrdersEachTime);
      if (after) after(placed);
    }
  }

  std::string database_time() { return shop_.value("select clock_timestamp()"); }

  bool await_all_closed(std::chrono::milliseconds patience = kPatience) {
    return await_count("t_order where status = 'WAIT_PAY'", 0, patience);
  }

  // From `instant` to the first close that was committed after it; fails where there is none.
  double first_close_ms(const std::string& instant) {
    return number("select min(extract(epoch from c.committed - '" + instant +
                  "'::timestamptz)) * 1000 from " + kCloses + " c where c.committed > '" + instant +
                  "'");
  }

  // The last close of the orders that `which` picks from t_order o, after `since`; fails where
  // there is none.
  double last_close_ms(const std::string& which, const std::string& since = kDueAfterOneSecond) {
    return number("select max(extract(epoch from c.committed - (" + since + "))) * 1000 from " +
                  kCloses + " c join t_order o on o.id = c.order_id where " + which);
  }

  static int times(const std::string& text, const std::string& in) {
    int found = 0;
    for (auto at = in.find(text); at != std::string::npos; at = in.find(text, at + 1)) ++found;
    return found;
  }

 private:
  inline static const std::string kCloses =
      "(select h.order_id, pg_xact_commit_timestamp(h.xmin) as committed from t_order_history h"
      " where h.new_status = 'CLOSED')";

  double number(const std::string& query) {
    const std::string found = shop_.value(query);
    if (found == "NULL") throw std::runtime_error("nothing was closed: " + query);
    return std::stod(found);
  }
};

}  // namespace order_timeout::testing
