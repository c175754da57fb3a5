// A bucket is one cache line: ten numbers of orders, for each a tag and a route, eight bits of the
// hash of its id, and the number of an overflow bucket. Looking for an id costs two cache misses,
// the bucket and the order whose tag fits (a wrong one fits once in thirty), and the second is of
// use to the caller anyway.
//
//   hash ──> address ──> | number x 10 | tag x 10 | route x 10 | overflow ─|──> bucket ──> ...
//
// Linear hashing: with `count` buckets, 2^n < count <= 2^(n+1), an address is the lowest n + 1 bits
// of the hash, or n where that bucket is not there yet. Bucket `count` is made by splitting bucket
// `count` - 2^n, whenever there are more than seven entries a bucket; the last bucket is merged
// back when there are fewer than three. So the table grows under load without ever standing still.
//
//   before:  | 0 | 1 | 2 | 3 |            hash ..0 00 and ..1 00 are both in bucket 0
//   split 0: | 0 | 1 | 2 | 3 | 4 |        ..0 00 stays in bucket 0, ..1 00 goes to bucket 4
//
// A bucket whose address has n bits is split by bit n of the hashes: that is what routes are for,
// since to look at the orders would be a cache miss for each. A route has the bits 6 to 13, 14 to
// 21 or 22 to 29; only where one bit more leads from one such window to the next, orders are looked
// at.
//
// Buckets that have not been split hold up to twice as many as those that have; their overflow is
// in chained buckets. A bucket with an overflow bucket is full, and no overflow bucket is empty.
#include "order_timeout/order_index.hpp"

#include <bit>

namespace order_timeout {
namespace {

constexpr unsigned kFirstDepth = 6;
constexpr std::uint32_t kFirstBuckets = 1U << kFirstDepth;
constexpr unsigned kRouteBits = 8;
constexpr std::size_t kMostPerBucket = 7;
constexpr std::size_t kFewestPerBucket = 3;

// The finisher of SplitMix64 (Steele, Lea, Flood 2014): ids are often consecutive.
std::uint64_t scatter(OrderId id) {
  auto value = static_cast<std::uint64_t>(id);
  value = (value ^ (value >> 30)) * 0xBF58'476D'1CE4'E5B9;
  value = (value ^ (value >> 27)) * 0x94D0'49BB'1331'11EB;
  return value ^ (value >> 31);
}

// From the highest bits; the address has the lowest.
std::uint8_t tag_of(std::uint64_t hash) {
  const auto tag = static_cast<std::uint8_t>(hash >> 56);
  return tag == 0 ? std::uint8_t{1} : tag;
}

// The lowest bit of the window of bits that holds the one by which a bucket of this depth is split.
unsigned window_of(unsigned depth) {
  return kFirstDepth + (depth - kFirstDepth) / kRouteBits * kRouteBits;
}

std::uint8_t route_of(std::uint64_t hash, unsigned depth) {
  return static_cast<std::uint8_t>(hash >> window_of(depth));
}

std::size_t lowest(std::uint32_t bits) { return static_cast<std::size_t>(std::countr_zero(bits)); }

}  // namespace

OrderIndex::OrderIndex(const HeldOrders& orders) : orders_(orders) {
  for (; count_ < kFirstBuckets; ++count_) buckets_[buckets_.take()] = Bucket{};
  mask_ = std::bit_ceil(count_) - 1;
}

std::uint32_t OrderIndex::bucket_of(std::uint64_t hash) const {
  const std::uint32_t address = static_cast<std::uint32_t>(hash) & mask_;
  return address < count_ ? address : address & (mask_ >> 1);
}

// How many bits of the hash lead to a bucket.
unsigned OrderIndex::depth_of(std::uint32_t bucket) const {
  const auto depth = static_cast<unsigned>(std::bit_width(mask_));
  const std::uint32_t half = (mask_ >> 1) + 1;
  const bool has_other_half = bucket >= half || bucket + half < count_;
  return has_other_half ? depth : depth - 1;
}

std::uint32_t OrderIndex::find(OrderId id) const {
  const std::uint64_t hash = scatter(id);
  const Bucket* bucket = &buckets_[bucket_of(hash)];
  for (;;) {
    for (std::uint32_t rest = bucket->positions_of(tag_of(hash)); rest != 0; rest &= rest - 1) {
      const std::uint32_t number = bucket->numbers[lowest(rest)];
      if (orders_[number].id == id) return number;
    }
    if (bucket->overflow == kNone) return kNone;
    bucket = &overflow_[bucket->overflow];
  }
}

void OrderIndex::prefetch(OrderId id) const { buckets_.prefetch(bucket_of(scatter(id))); }

void OrderIndex::prefetch_order(OrderId id) const {
  const std::uint64_t hash = scatter(id);
  const Bucket& bucket = buckets_[bucket_of(hash)];
  const std::uint32_t positions = bucket.positions_of(tag_of(hash));
  if (positions != 0) orders_.prefetch(bucket.numbers[lowest(positions)]);
}

void OrderIndex::insert(OrderId id, std::uint32_t number) {
  const std::uint64_t hash = scatter(id);
  const std::uint32_t bucket = bucket_of(hash);
  put(buckets_[bucket], {number, tag_of(hash), route_of(hash, depth_of(bucket))});
  size_ += 1;
  if (size_ > kMostPerBucket * count_) split_bucket();
}

void OrderIndex::put(Bucket& home, Entry entry) {
  Bucket* bucket = &home;
  for (;;) {
    if (const std::uint32_t holes = bucket->positions_of(0); holes != 0) {
      bucket->numbers[lowest(holes)] = entry.number;
      bucket->tags[lowest(holes)] = entry.tag;
      bucket->routes[lowest(holes)] = entry.route;
      return;
    }
    if (bucket->overflow == kNone) {
      const std::uint32_t added = overflow_.take();
      overflow_[added] = Bucket{};
      bucket->overflow = added;
    }
    bucket = &overflow_[bucket->overflow];
  }
}

void OrderIndex::erase(OrderId id, std::uint32_t number) {
  const std::uint64_t hash = scatter(id);
  Bucket& home = buckets_[bucket_of(hash)];
  Bucket* bucket = &home;
  std::uint32_t positions = bucket->positions_of(tag_of(hash));
  while (positions == 0 || bucket->numbers[lowest(positions)] != number) {
    positions &= positions - 1;
    if (positions != 0) continue;
    bucket = &overflow_[bucket->overflow];
    positions = bucket->positions_of(tag_of(hash));
  }
  bucket->tags[lowest(positions)] = 0;
  if (home.overflow != kNone) fill_hole(home, *bucket, lowest(positions));
  size_ -= 1;
  if (count_ > kFirstBuckets && size_ < kFewestPerBucket * count_) merge_bucket();
}

// With an entry of the last bucket of the chain, which goes when it is empty. (Where the hole is in
// the last bucket itself, that entry only moves up, or there is none left.)
void OrderIndex::fill_hole(Bucket& home, Bucket& bucket, std::size_t hole) {
  Bucket* before = &home;
  while (overflow_[before->overflow].overflow != kNone) before = &overflow_[before->overflow];
  Bucket& last = overflow_[before->overflow];
  if (const std::uint32_t used = last.used(); used != 0) {
    bucket.numbers[hole] = last.numbers[lowest(used)];
    bucket.tags[hole] = last.tags[lowest(used)];
    bucket.routes[hole] = last.routes[lowest(used)];
    last.tags[lowest(used)] = 0;
  }
  if (last.used() != 0) return;
  overflow_.release(before->overflow);
  before->overflow = kNone;
}

// Empties a bucket and what hangs on it into moving_.
void OrderIndex::take_entries(Bucket& home) {
  const Bucket* bucket = &home;
  std::uint32_t number = kNone;
  for (;;) {
    for (std::uint32_t rest = bucket->used(); rest != 0; rest &= rest - 1) {
      const std::size_t at = lowest(rest);
      moving_.push_back({bucket->numbers[at], bucket->tags[at], bucket->routes[at]});
    }
    const std::uint32_t next = bucket->overflow;
    if (number != kNone) overflow_.release(number);
    if (next == kNone) break;
    number = next;
    bucket = &overflow_[number];
  }
  home = Bucket{};
}

// For a bucket of this depth. Only the order knows the bits that the old route has not.
std::uint8_t OrderIndex::new_route(Entry entry, unsigned depth) const {
  return route_of(scatter(orders_[entry.number].id), depth);
}

void OrderIndex::split_bucket() {
  const auto depth = static_cast<unsigned>(std::bit_width(count_)) - 1;
  Bucket& source = buckets_[count_ - (1U << depth)];
  Bucket& added = buckets_[buckets_.take()];  // number count_: buckets are released from the end
  added = Bucket{};
  moving_.clear();
  take_entries(source);
  Filling halves[]{{&source}, {&added}};
  const bool is_last_of_window = window_of(depth + 1) != window_of(depth);
  const unsigned bit = depth - window_of(depth);
  if (is_last_of_window) {
    for (const Entry& entry : moving_) orders_.prefetch(entry.number);
  }
  for (Entry& entry : moving_) {
    Filling& half = halves[entry.route >> bit & 1];
    if (is_last_of_window) entry.route = new_route(entry, depth + 1);
    fill(half, entry);
  }
  count_ += 1;
  mask_ = std::bit_ceil(count_) - 1;
}

// Requires: nothing but fill() has put entries into the bucket.
void OrderIndex::fill(Filling& filling, Entry entry) {
  if (filling.entries == kPerBucket) {
    const std::uint32_t next = overflow_.take();
    overflow_[next] = Bucket{};
    filling.bucket->overflow = next;
    filling = Filling{&overflow_[next]};
  }
  filling.bucket->numbers[filling.entries] = entry.number;
  filling.bucket->tags[filling.entries] = entry.tag;
  filling.bucket->routes[filling.entries] = entry.route;
  filling.entries += 1;
}

// All of the last bucket belongs into the one it was split from.
void OrderIndex::merge_bucket() {
  const std::uint32_t last = count_ - 1;
  const auto depth = static_cast<unsigned>(std::bit_width(last)) - 1;
  Bucket& target = buckets_[last - (1U << depth)];
  moving_.clear();
  take_entries(target);
  take_entries(buckets_[last]);
  buckets_.release(last);
  count_ -= 1;
  mask_ = std::bit_ceil(count_) - 1;
  const bool is_first_of_window = window_of(depth + 1) != window_of(depth);
  Filling filling{&target};
  for (Entry& entry : moving_) {
    if (is_first_of_window) entry.route = new_route(entry, depth);
    fill(filling, entry);
  }
}

std::string OrderIndex::check_invariants() const {
  std::size_t counted = 0;
  std::size_t overflow_buckets = 0;
  for (std::uint32_t number = 0; number < count_; ++number) {
    const Bucket* bucket = &buckets_[number];
    for (;;) {
      std::size_t held = 0;
      for (std::size_t i = 0; i < kPerBucket; ++i) {
        if (bucket->tags[i] == 0) continue;
        const HeldOrder& order = orders_[bucket->numbers[i]];
        const std::uint64_t hash = scatter(order.id);
        if (!order.alive) return "the index holds an order that is gone";
        if (bucket_of(hash) != number) return "an order is in another's bucket";
        if (tag_of(hash) != bucket->tags[i]) return "a tag is not its order's";
        if (route_of(hash, depth_of(number)) != bucket->routes[i]) return "a route leads astray";
        held += 1;
      }
      counted += held;
      if (bucket != &buckets_[number] && held == 0) return "an overflow bucket is empty";
      if (bucket->overflow == kNone) break;
      if (held < kPerBucket) return "a bucket with an overflow bucket has room";
      bucket = &overflow_[bucket->overflow];
      overflow_buckets += 1;
    }
  }
  if (counted != size_) return "the buckets and the count differ";
  if (overflow_buckets != overflow_.held()) return "an overflow bucket is lost";
  if (count_ != buckets_.held()) return "a bucket is lost";
  return {};
}

}  // namespace order_timeout
