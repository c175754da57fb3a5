// The hierarchical timing wheel: every pending order by its due instant, 1 ms ticks, by order id.
// How it works is told, with a drawing, at the head of src/core/wheel.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "order_timeout/order.hpp"
#include "order_timeout/order_index.hpp"
#include "order_timeout/time.hpp"

namespace order_timeout {

// One thread at a time. Holds up to 2^32 - 1 orders.
class TimingWheel {
 public:
  // The wheel's time starts at `start` and never moves back.
  explicit TimingWheel(Instant start);

  // Takes the order in, or replaces what is held under its id (earlier or later; it is then the
  // last of its tick). Any due instant is legal: one that has passed comes out with the next
  // advance, kNever never does. O(1); overdue ones O(log overdue).
  void schedule(const TrackedOrder& order);
  // False where the id is not held. O(1).
  bool cancel(OrderId id);
  std::optional<TrackedOrder> find(OrderId id) const;

  // Moves time to `now` and takes out at most `max` orders with due <= now, earliest first, those
  // of one tick in the order they were scheduled; what the bound left comes with the next call. A
  // `now` before the wheel's time only returns what is left over. Never early.
  // O(orders returned + orders moved to a lower level); empty time costs nothing, however long.
  std::vector<TrackedOrder> advance(Instant now, std::size_t max);

  // A lower bound of the earliest due instant held: never later than the true one, so a sleeper
  // wakes in time. Nothing where no order is held (or all are due never). O(1).
  std::optional<Instant> next_due() const;

  std::size_t size() const { return index_.size(); }
  std::size_t memory_bytes() const;

  // For tests: the first broken invariant in words, empty where all hold. O(orders).
  std::string check_invariants() const;

 private:
  // A due instant as an unsigned number that sorts alike: kAlways is 0.
  using Tick = std::uint64_t;
  using NodeNumber = std::uint32_t;
  static constexpr NodeNumber kNil = OrderIndex::kNone;

  static constexpr std::size_t kLevels = 8;           // one per byte of a tick
  static constexpr std::size_t kSlotsPerLevel = 256;  // one per value of the byte
  static constexpr std::size_t kSlots = kLevels * kSlotsPerLevel;
  static constexpr std::uint16_t kNeverSlot = kSlots;  // due never
  static constexpr std::uint16_t kOverdueSlot = kSlots + 1;
  static constexpr std::size_t kNodesPerChunk = 8'192;

  struct Node {
    OrderId id;
    Tick due;
    NodeNumber previous, next;  // in its slot's list; a free node's next is the next free one
    Version version;
    std::uint16_t slot;
    Source source;
  };
  static_assert(sizeof(Node) == 32);

  struct List {
    NodeNumber first = kNil, last = kNil;
  };

  static Tick tick_of(Instant instant);
  static Instant instant_of(Tick tick);
  static TrackedOrder order_of(const Node& node);

  Node& node(NodeNumber number) {
    return chunks_[number / kNodesPerChunk][number % kNodesPerChunk];
  }
  const Node& node(NodeNumber number) const {
    return chunks_[number / kNodesPerChunk][number % kNodesPerChunk];
  }
  NodeNumber take_free_node();
  void release(NodeNumber number);
  void add_chunk();

  std::uint16_t slot_for(Tick due) const;
  Tick start_of(std::size_t slot) const;
  std::optional<std::size_t> first_occupied_slot() const;
  List& list_of(const Node& node);
  void file(NodeNumber number);
  void unlink(NodeNumber number);
  void remove(NodeNumber number);
  void cascade(std::size_t slot);
  void take_from(List& list, std::vector<TrackedOrder>& due, std::size_t max);
  void take_overdue(std::vector<TrackedOrder>& due, std::size_t max);
  std::string check_list(const List& list, std::size_t slot, std::size_t& counted) const;

  Tick cursor_;   // every order due before it has been taken out, or is in overdue_
  Tick horizon_;  // the wheel's time; the cursor is behind it only while a bound left orders over
  std::array<List, kSlots + 1> lists_;  // level by level, and last the one of orders due never
  std::array<std::uint64_t, kSlots / 64> occupied_{};  // a bit for each slot of a level
  std::map<Tick, List> overdue_;  // scheduled when the cursor had passed them; no list is empty
  std::vector<std::unique_ptr<Node[]>> chunks_;  // nodes never move
  NodeNumber free_ = kNil;
  OrderIndex index_;
};

}  // namespace order_timeout
