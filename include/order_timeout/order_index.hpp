// From an order's id to the number of its node in the wheel: a flat table with linear probing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "order_timeout/order.hpp"

namespace order_timeout {

// Any 64-bit id is legal. Nothing is left behind by an erase (the entries after it move up), so a
// table in which orders come and go for ever does not slow down. It grows, and never shrinks.
class OrderIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;  // no node has this number

  // The order's node, kNone where it is not held. O(1) on average.
  std::uint32_t find(OrderId id) const;
  // Requires: the id is not held, and node != kNone. O(1) amortised.
  void insert(OrderId id, std::uint32_t node);
  // Requires: the id is held. O(1) on average.
  void erase(OrderId id);

  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  struct Entry {
    OrderId id = 0;
    std::uint32_t node = kNone;
  };

  std::size_t home_of(OrderId id) const;
  std::size_t position_of(
      OrderId id) const;  // of its entry, else of the free one that ends the search
  void grow();

  std::vector<Entry> entries_;  // a power of two of them, at most three quarters full; or none yet
  std::size_t size_ = 0;
};

}  // namespace order_timeout
