// The timing wheel: every pending order by its due instant, 1 ms ticks, by order id.
// How it works is told, with a drawing, at the head of src/core/wheel.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "order_timeout/bitmap.hpp"
#include "order_timeout/held_order.hpp"
#include "order_timeout/order.hpp"
#include "order_timeout/order_index.hpp"
#include "order_timeout/slab.hpp"
#include "order_timeout/time.hpp"

namespace order_timeout {

// One thread at a time.
class TimingWheel {
 public:
  // As many as an entry can number.
  static constexpr std::size_t kMostOrders = std::size_t{1} << 27;
  // What one call of advance() may do.
  struct Budget {
    std::size_t orders;        // taken out at most
    std::size_t work = 4'096;  // entries taken out, moved or skipped; a chunk begun is finished
  };

  // The wheel's time starts at `start` and never moves back.
  explicit TimingWheel(Instant start, std::size_t most_orders = kMostOrders);
  TimingWheel(const TimingWheel&) = delete;
  TimingWheel& operator=(const TimingWheel&) = delete;

  // Takes the order in, or replaces what is held under its id (earlier or later). Any due instant
  // is legal: one that has passed comes out next, kNever never does. False, and nothing is done,
  // where the wheel is full and the id is not held. O(1).
  bool schedule(const TrackedOrder& order);
  // False where the id is not held. O(1).
  bool cancel(OrderId id);
  std::optional<TrackedOrder> find(OrderId id) const;

  // The same for many at once, in the given order: the cache misses of one overlap with those of
  // the next. They return how many were taken in, and how many were held.
  std::size_t schedule(std::span<const TrackedOrder> orders);
  std::size_t cancel(std::span<const OrderId> ids);

  // Moves time to `now` and takes out orders with due <= now, earliest first; those
  // of one tick, and those that were overdue when they were scheduled, about in the order in which
  // they were scheduled. What the budget left comes with the next call: there is more
  // while next_due() is not after `now`. A `now` before the wheel's time only returns what is left
  // over. Never early; never late but for the budget. O(budget), however far the time has jumped.
  std::vector<TrackedOrder> advance(Instant now, Budget budget);

  // A lower bound of the earliest due instant held: never later than the true one, so a sleeper
  // wakes in time. Nothing where no order is held (or all are due never). O(1).
  std::optional<Instant> next_due() const;

  std::size_t size() const { return index_.size(); }
  std::size_t memory_bytes() const;

  // For tests: the first broken invariant in words, empty where all hold. O(orders).
  std::string check_invariants() const;
  // Entries of cancelled and moved orders that are still in the wheel.
  std::size_t stale_entries() const { return entries_ - filed_; }

 private:
  using Number = std::uint32_t;
  static constexpr Number kNone = HeldOrders::kNone;

  static constexpr unsigned kFineBits = 10;  // a coarse slot is as long as 2^10 fine ones: a second
  static constexpr unsigned kCoarseBits = 12;  // a window of 2^12 coarse slots: 70 minutes
  static constexpr unsigned kFarBits = kFineBits + kCoarseBits;

  // An order's number and the generation of its entry that counts.
  class Entry {
   public:
    Entry() = default;
    Entry(Number number, std::uint8_t generation) : bits_(number << kGenerationBits | generation) {}
    Number number() const { return bits_ >> kGenerationBits; }
    std::uint8_t generation() const { return static_cast<std::uint8_t>(bits_ & kGenerationMask); }

    static constexpr unsigned kGenerationBits = 5;
    static constexpr std::uint32_t kGenerationMask = (1U << kGenerationBits) - 1;

   private:
    std::uint32_t bits_;
  };
  static_assert(sizeof(Entry) == 4);
  static_assert(kMostOrders == std::size_t{1} << (32 - Entry::kGenerationBits));

  struct Chunk {
    static constexpr std::size_t kEntries = 30;
    std::uint32_t next;
    std::uint32_t count;
    std::array<Entry, kEntries> entries;
  };
  static_assert(sizeof(Chunk) == 128);

  // First in, first out.
  struct Chain {
    std::uint32_t first = kNone, last = kNone, chunks = 0;
  };
  static_assert(sizeof(Chain) == 12);

  // As many slots as a power of two, used round.
  class Ring {
   public:
    explicit Ring(std::size_t slots) : chains(slots), occupied(slots) {}
    std::size_t slot_of(Tick unit) const { return unit & (chains.size() - 1); }
    // The first occupied slot from `from` on, as a unit of time, not beyond `last`.
    std::optional<Tick> first_in(Tick from, Tick last) const;

    std::vector<Chain> chains;
    Bitmap occupied;  // a bit for each chain that is not empty
  };

  // Where a sweep for stale entries has come to.
  struct Sweep {
    std::size_t slot = 0;      // of the fine ring, then of the coarse one
    Tick window = 0;           // beyond the rings
    std::uint32_t chunks = 0;  // to be seen yet in this chain
  };

  static Tick tick_of(Instant instant);
  static Instant instant_of(Tick tick);
  static TrackedOrder order_of(const HeldOrder& held);

  bool counts(Entry entry) const;
  void file(Number number);
  void append(Chain& chain, Entry entry);
  void append(Ring& ring, Tick unit, Entry entry);
  void unfile(HeldOrder& held);
  void forget(Number number);
  bool reschedule(Number number, const TrackedOrder& order);

  std::optional<Tick> first_place(Tick last) const;
  void take_due(std::vector<TrackedOrder>& due, std::size_t max);
  void move_time();
  bool bring_in_window();
  void bring_in_ahead(Tick passed);
  std::uint32_t remove_first_chunk(Chain& chain);
  void refile_chunk(Chain& chain);
  void refile_chunk(Ring& ring, Tick unit);
  void refile_far_chunk();

  void sweep_if_crowded();
  bool find_chain_to_sweep();
  void sweep_chunk();
  void sweep_slot(Ring& ring, std::size_t slot);
  void sweep_window();

  struct Census;
  std::string check_chain(const Chain& chain, Tick first, Tick last, Census& census) const;
  std::string check_ring(const Ring& ring, Tick now, unsigned bits, Census& census) const;
  std::string check_orders(const Census& census) const;

  std::size_t most_orders_;
  Tick cursor_;   // every order due before it has been taken out
  Tick horizon_;  // the wheel's time; the cursor is behind it only while a bound left orders over
  Tick oldest_overdue_ = ~Tick{0};  // of those at the cursor that were late when scheduled
  HeldOrders orders_;
  OrderIndex index_{orders_};
  Slab<Chunk, 8'192> chunks_;
  Ring fine_{std::size_t{2} << kFineBits};
  Ring coarse_{std::size_t{2} << kCoarseBits};
  std::map<Tick, Chain> far_;  // by window of 70 minutes; no chain is empty
  std::size_t entries_ = 0;    // in all chains
  std::size_t filed_ = 0;      // orders for which one of them counts
  std::size_t work_ = 0;       // what advance() may still do
  Sweep sweep_;
};

}  // namespace order_timeout
