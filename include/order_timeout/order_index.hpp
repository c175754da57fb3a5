// From an order's id to its number in the wheel's memory: a hash table by linear hashing (Litwin
// 1980) that grows and shrinks by one bucket of a cache line at a time. How it works is told at the
// head of src/core/order_index.cpp.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "order_timeout/held_order.hpp"

namespace order_timeout {

// Any 64-bit id is legal. Ids are not kept here: they are compared in the orders themselves, which
// whoever looks for one needs anyway. No operation touches more than a few buckets, whatever the
// number of orders, and nothing is left behind by an erase.
class OrderIndex {
 public:
  static constexpr std::uint32_t kNone = HeldOrders::kNone;

  explicit OrderIndex(const HeldOrders& orders);

  // The order's number, kNone where it is not held. O(1) on average.
  std::uint32_t find(OrderId id) const;
  // Requires: the id is not held, and orders[number].id is the id already. O(1) on average.
  void insert(OrderId id, std::uint32_t number);
  // Requires: the id is held under this number. O(1) on average.
  void erase(OrderId id, std::uint32_t number);

  // Loads what find() will look at first: the bucket, and once that is here, the order.
  void prefetch(OrderId id) const;
  void prefetch_order(OrderId id) const;

  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const { return buckets_.memory_bytes() + overflow_.memory_bytes(); }

  // For tests: the first broken invariant in words, empty where all hold. O(orders).
  std::string check_invariants() const;

 private:
  static constexpr std::size_t kPerBucket = 10;

  struct Bucket {
    std::array<std::uint32_t, kPerBucket> numbers{};
    std::array<std::uint8_t, kPerBucket> tags{};    // eight bits of the hash, never 0; 0: no entry
    std::array<std::uint8_t, kPerBucket> routes{};  // eight more, for the next splits
    std::uint32_t overflow = kNone;                 // the bucket that takes what has no room here

    // A bit for each position with this tag, and for each with an entry.
    std::uint32_t positions_of(std::uint8_t tag) const;
    std::uint32_t used() const { return ~positions_of(0) & ((1U << kPerBucket) - 1); }
  };
  static_assert(sizeof(Bucket) == 64);

  struct Entry {
    std::uint32_t number;
    std::uint8_t tag;
    std::uint8_t route;
  };

  // A bucket that is being filled from its first position on.
  struct Filling {
    Bucket* bucket;
    std::size_t entries = 0;
  };

  std::uint32_t bucket_of(std::uint64_t hash) const;
  unsigned depth_of(std::uint32_t bucket) const;
  std::uint8_t new_route(Entry entry, unsigned depth) const;
  void put(Bucket& home, Entry entry);
  void fill(Filling& filling, Entry entry);
  void fill_hole(Bucket& home, Bucket& bucket, std::size_t hole);
  void take_entries(Bucket& bucket);
  void split_bucket();
  void merge_bucket();

  const HeldOrders& orders_;
  Slab<Bucket, 16'384> buckets_;  // numbers 0 to count_ - 1
  Slab<Bucket, 1'024> overflow_;
  std::uint32_t count_ = 0;
  std::uint32_t mask_ = 0;  // 2^n - 1 >= count_ - 1
  std::size_t size_ = 0;
  std::vector<Entry> moving_;  // of the bucket that is split or merged
};

inline std::uint32_t OrderIndex::Bucket::positions_of(std::uint8_t tag) const {
  static_assert(std::endian::native == std::endian::little && kPerBucket == 10);
  // The highest bit of each byte is set where that byte of `word` is the tag.
  const auto equal_bytes = [tag](std::uint64_t word) {
    constexpr std::uint64_t kLow = 0x7F7F'7F7F'7F7F'7F7F;
    const std::uint64_t differs = word ^ (tag * std::uint64_t{0x0101'0101'0101'0101});
    return ~(((differs & kLow) + kLow) | differs | kLow);
  };
  // Those bits side by side, the lowest byte's first.
  const auto gathered = [](std::uint64_t highest_bits) {
    return static_cast<std::uint32_t>(((highest_bits >> 7) * 0x0102'0408'1020'4080) >> 56);
  };
  std::uint64_t first_eight = 0;
  std::uint16_t last_two = 0;
  std::memcpy(&first_eight, tags.data(), sizeof(first_eight));
  std::memcpy(&last_two, tags.data() + sizeof(first_eight), sizeof(last_two));
  const std::uint32_t last = gathered(equal_bytes(last_two)) & 0b11;
  return gathered(equal_bytes(first_eight)) | last << 8;
}

}  // namespace order_timeout
