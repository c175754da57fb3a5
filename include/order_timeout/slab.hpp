// Items of one size by 32-bit number, in segments that never move: 100 million of them grow by a
// segment at a time, never by a copy, and their memory goes back a segment at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "order_timeout/bitmap.hpp"

namespace order_timeout {

// Memory that is all zero and begins on a cache line. The kernel hands out zero pages one by one as
// they are touched, so that a large block costs nothing at once.
class ZeroedBlock {
 public:
  ZeroedBlock() = default;
  explicit ZeroedBlock(std::size_t bytes) : raw_(std::calloc(bytes + kCacheLine, 1)) {
    if (!raw_) throw std::bad_alloc{};
  }
  std::byte* begin() const {
    const auto address = reinterpret_cast<std::uintptr_t>(raw_.get());
    const std::uintptr_t aligned = (address + kCacheLine - 1) / kCacheLine * kCacheLine;
    return static_cast<std::byte*>(raw_.get()) + (aligned - address);
  }

 private:
  static constexpr std::size_t kCacheLine = 64;
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };
  std::unique_ptr<void, Free> raw_;
};

// One thread at a time. The lowest segment with room gives the next item, so that what is held
// stays together and the segments behind it become free as a whole; all but one free segment are
// returned.
template <class T, std::size_t kPerSegment>
class Slab {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) >= sizeof(std::uint32_t));
  static_assert(std::has_single_bit(kPerSegment));

 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;  // no item has this number

  T& operator[](std::uint32_t number) { return items_[number / kPerSegment][number % kPerSegment]; }
  const T& operator[](std::uint32_t number) const {
    return items_[number / kPerSegment][number % kPerSegment];
  }
  // False for a number whose segment has gone back.
  bool has_memory(std::uint32_t number) const { return items_[number / kPerSegment] != nullptr; }
  void prefetch(std::uint32_t number) const {
    const T* segment = items_[number / kPerSegment];
    if (segment != nullptr) __builtin_prefetch(segment + number % kPerSegment);
  }

  // An item: zeros if its memory is new, else what its last owner left but for its first four
  // bytes. O(1), but for a new segment.
  std::uint32_t take() {
    const std::size_t segment = segment_with_room();
    Segment& from = segments_[segment];
    std::uint32_t at = from.first_free;
    if (at != kNone) {
      std::memcpy(&from.first_free, &items_[segment][at], sizeof(at));
    } else {
      at = from.untouched++;
    }
    from.held += 1;
    if (from.held == kPerSegment) room_.clear(segment);
    return static_cast<std::uint32_t>(segment * kPerSegment) + at;
  }

  void release(std::uint32_t number) {
    const std::size_t segment = number / kPerSegment;
    const std::uint32_t at = number % kPerSegment;
    Segment& to = segments_[segment];
    std::memcpy(static_cast<void*>(&items_[segment][at]), &to.first_free, sizeof(at));
    to.first_free = at;
    to.held -= 1;
    room_.set(segment);
    if (segment < lowest_room_) lowest_room_ = segment;
    if (to.held == 0) keep_one_free(segment);
  }

  // One more than the highest number ever given, rounded up to a segment.
  std::uint32_t capacity() const {
    return static_cast<std::uint32_t>(segments_.size() * kPerSegment);
  }
  std::size_t held() const {
    std::size_t sum = 0;
    for (const Segment& segment : segments_) sum += segment.held;
    return sum;
  }
  std::size_t memory_bytes() const {
    std::size_t with_memory = 0;
    for (const T* items : items_) with_memory += items != nullptr ? 1 : 0;
    return with_memory * kPerSegment * sizeof(T) + segments_.size() * sizeof(Segment);
  }

 private:
  struct Segment {
    ZeroedBlock block;
    std::uint32_t first_free = kNone;  // the first four bytes of a free item number the next
    std::uint32_t untouched = 0;       // from here on no item was ever taken
    std::uint32_t held = 0;
  };

  std::size_t segment_with_room() {
    if (lowest_room_ < room_.size() && room_.test(lowest_room_)) return lowest_room_;
    const auto next = room_.first_in(lowest_room_, room_.size());
    lowest_room_ = next ? *next : add_segment();
    return lowest_room_;
  }

  std::size_t add_segment() {
    std::size_t segment = 0;
    while (segment < items_.size() && items_[segment] != nullptr) ++segment;
    if (segment == items_.size()) {
      items_.push_back(nullptr);
      segments_.emplace_back();
      room_.grow();
    }
    segments_[segment].block = ZeroedBlock(kPerSegment * sizeof(T));
    items_[segment] = reinterpret_cast<T*>(segments_[segment].block.begin());
    room_.set(segment);
    return segment;
  }

  // So that a number of items that goes up and down round a border does not allocate each time.
  void keep_one_free(std::size_t segment) {
    if (free_segment_ == kNone || free_segment_ == segment || segments_[free_segment_].held > 0) {
      free_segment_ = static_cast<std::uint32_t>(segment);
      return;
    }
    const std::size_t higher = std::max<std::size_t>(segment, free_segment_);
    free_segment_ = static_cast<std::uint32_t>(std::min<std::size_t>(segment, free_segment_));
    items_[higher] = nullptr;
    segments_[higher] = Segment{};
    room_.clear(higher);
  }

  std::vector<T*> items_;  // by segment; null where the memory has gone back
  std::vector<Segment> segments_;
  Bitmap room_;                  // a bit for each segment with memory and a free item
  std::size_t lowest_room_ = 0;  // no segment below has room
  std::uint32_t free_segment_ = kNone;
};

}  // namespace order_timeout
