// The sample shop's customers: what they order, on which business line, and whether and when they
// pay. Drawn from a seed; pure, so that the same seed is the same day at the shop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "order_timeout/time.hpp"

namespace order_timeout::shop {

struct Line {
  std::string name;
  Duration timeout{};
};

struct Item {
  std::int64_t sku = 0;
  int quantity = 0;

  friend bool operator==(const Item&, const Item&) = default;
};

// What a customer means to do. `last_moment` is within 100 ms of the instant the order may be
// closed: the race that the database decides. `too_late` is after it.
enum class Payment : std::uint8_t { early, last_moment, too_late, never };

struct Basket {
  std::string line;
  Duration close_after{};  // timeout + grace: from when, counted from its creation, the order may
                           // be closed
  std::vector<Item>
      items;  // 1 to 3, distinct, ascending by SKU: the order in which rows are locked
  Payment payment = Payment::never;
  Duration pay_after{};  // counted from creation; without meaning for `never`
};

class Customers {
 public:
  struct Options {
    std::vector<Line> lines;  // not empty
    Duration grace{};
    std::vector<std::int64_t> skus;  // not empty, ascending
    std::uint64_t seed = 1;
  };

  explicit Customers(Options options);

  Basket next();

 private:
  std::int64_t between(std::int64_t least, std::int64_t most);
  std::vector<Item> items();

  Options options_;
  std::mt19937_64 random_;
};

}  // namespace order_timeout::shop
