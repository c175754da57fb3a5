// What is measured: orders with ids and due instants in no order, the same for every contender.
// Shape U: all at once, due evenly over half an hour. Shape O: orders as they arrive over ten
// minutes, with timeouts of 10 minutes (20 %), 30 minutes (70 %) and 2 hours (10 %).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace bench {

using Id = std::int64_t;
using Ms = std::uint64_t;

constexpr Ms kMinute = 60'000;

inline std::uint64_t mix(std::uint64_t value) {
  value += 0x9E37'79B9'7F4A'7C15;
  value = (value ^ (value >> 30)) * 0xBF58'476D'1CE4'E5B9;
  value = (value ^ (value >> 27)) * 0x94D0'49BB'1331'11EB;
  return value ^ (value >> 31);
}

class Workload {
 public:
  Workload(char shape, std::uint64_t orders) : shape_(shape), orders_(orders) {}

  std::uint64_t orders() const { return orders_; }
  std::uint64_t moves() const { return std::min<std::uint64_t>(orders_, 4'000'000); }
  std::uint64_t cancels() const { return std::min<std::uint64_t>(orders_ / 2, 20'000'000); }
  Ms end() const { return is_orders() ? 136 * kMinute : 30 * kMinute + 1; }

  Id id(std::uint64_t i) const { return static_cast<Id>(mix(i) >> 1); }
  Ms arrival(std::uint64_t i) const { return is_orders() ? i * 10 * kMinute / orders_ : 0; }

  Ms due(std::uint64_t i) const {
    const std::uint64_t dice = mix(~i);
    if (!is_orders()) return 1 + dice % (30 * kMinute);
    const Ms timeout = dice % 10 < 2 ? 10 * kMinute : dice % 10 < 9 ? 30 * kMinute : 120 * kMinute;
    return arrival(i) + timeout;
  }

  // The order of the k-th move, and when it is due from then on: five minutes later as orders go,
  // any time else.
  std::uint64_t moved(std::uint64_t k) const { return mix(k * 3 + 1) % orders_; }
  Ms moved_due(std::uint64_t k) const {
    if (is_orders()) return due(moved(k)) + 5 * kMinute;
    return 1 + mix(k * 5 + 2) % (30 * kMinute);
  }

  // The k-th of all orders in an order without pattern: a permutation of as many bits as needed,
  // walked until it falls below the number of orders.
  std::uint64_t shuffled(std::uint64_t k) const {
    const auto bits = std::max(4, static_cast<int>(std::bit_width(orders_ - 1)));
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    do {
      for (int round = 0; round < 3; ++round) {
        k = (k * 0x9E37'79B9'7F4A'7C15 + 0x1234'5677) & mask;
        k ^= k >> (bits / 2);
      }
    } while (k >= orders_);
    return k;
  }

 private:
  bool is_orders() const { return shape_ == 'O'; }

  char shape_;
  std::uint64_t orders_;
};

}  // namespace bench
