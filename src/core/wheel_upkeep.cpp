// The wheel's upkeep: sweeping out stale entries, and the check of everything that must always
// hold. The wheel itself is explained and done in wheel.cpp.
#include <algorithm>

#include "order_timeout/wheel.hpp"

namespace order_timeout {
namespace {

constexpr std::size_t kStaleAlways = 4'096;  // as many stale entries as nobody minds

}  // namespace

std::size_t TimingWheel::memory_bytes() const {
  constexpr std::size_t kMapNode = 64;  // a chain, its window and the tree's own part
  return sizeof(*this) + orders_.memory_bytes() + index_.memory_bytes() + chunks_.memory_bytes() +
         (fine_.chains.size() + coarse_.chains.size()) * sizeof(Chain) + far_.size() * kMapNode;
}

// --- Stale entries ---------------------------------------------------------------------------

void TimingWheel::sweep_if_crowded() {
  if (stale_entries() <= filed_ + kStaleAlways) return;
  if (sweep_.chunks == 0 && !find_chain_to_sweep()) sweep_ = Sweep{};
  if (sweep_.chunks > 0) sweep_chunk();
}

// The next chain that is not empty becomes the one that is swept; false at the end of a round.
bool TimingWheel::find_chain_to_sweep() {
  const std::size_t fine_slots = fine_.chains.size();
  if (sweep_.slot < fine_slots) {
    const auto slot = fine_.occupied.first_in(sweep_.slot, fine_slots);
    sweep_.slot = slot.value_or(fine_slots);
    if (slot) sweep_.chunks = fine_.chains[*slot].chunks;
    if (slot) return true;
  }
  const std::size_t all_slots = fine_slots + coarse_.chains.size();
  if (sweep_.slot < all_slots) {
    const auto slot = coarse_.occupied.first_in(sweep_.slot - fine_slots, coarse_.chains.size());
    sweep_.slot = slot ? fine_slots + *slot : all_slots;
    if (slot) sweep_.chunks = coarse_.chains[*slot].chunks;
    if (slot) return true;
  }
  const auto window = far_.lower_bound(sweep_.window);
  if (window == far_.end()) return false;
  sweep_.window = window->first;
  sweep_.chunks = window->second.chunks;
  return true;
}

void TimingWheel::sweep_chunk() {
  const std::size_t fine_slots = fine_.chains.size();
  sweep_.chunks -= 1;
  if (sweep_.slot < fine_slots) {
    sweep_slot(fine_, sweep_.slot);
  } else if (sweep_.slot < fine_slots + coarse_.chains.size()) {
    sweep_slot(coarse_, sweep_.slot - fine_slots);
  } else {
    sweep_window();
  }
}

// Time or a cancelled order may have emptied the chain since the last chunk.
void TimingWheel::sweep_slot(Ring& ring, std::size_t slot) {
  if (ring.occupied.test(slot)) refile_chunk(ring, slot);
  if (!ring.occupied.test(slot)) sweep_.chunks = 0;
  if (sweep_.chunks == 0) sweep_.slot += 1;
}

void TimingWheel::sweep_window() {
  const auto window = far_.find(sweep_.window);
  if (window != far_.end()) {
    refile_chunk(window->second);
    if (window->second.first == kNone) far_.erase(window);
  }
  if (!far_.contains(sweep_.window)) sweep_.chunks = 0;
  if (sweep_.chunks == 0) sweep_.window += 1;
}

// --- What must always hold -------------------------------------------------------------------

struct TimingWheel::Census {
  std::size_t entries = 0;
  std::size_t chunks = 0;
  std::vector<bool> filed;  // by number: an entry that counts was seen
};

std::string TimingWheel::check_invariants() const {
  if (cursor_ > horizon_) return "the cursor is ahead of the wheel's time";
  Census census;
  census.filed.resize(orders_.capacity());
  if (auto broken = check_ring(fine_, cursor_, 0, census); !broken.empty()) return broken;
  if (auto broken = check_ring(coarse_, cursor_ >> kFineBits, kFineBits, census); !broken.empty())
    return broken;
  for (const auto& [window, chain] : far_) {
    if (window < cursor_ >> kFarBits) return "a far window has been passed";
    if (chain.first == kNone) return "a far window is empty";
    const Tick last = (window << kFarBits) | ((Tick{1} << kFarBits) - 1);
    if (auto broken = check_chain(chain, window << kFarBits, last, census); !broken.empty())
      return broken;
  }
  if (census.entries != entries_) return "the chains and the count of entries differ";
  if (census.chunks != chunks_.held()) return "a chunk is lost";
  if (auto broken = check_orders(census); !broken.empty()) return broken;
  return index_.check_invariants();
}

// `now` is the cursor in the ring's units. Every slot stands for the next unit of its number.
std::string TimingWheel::check_ring(const Ring& ring, Tick now, unsigned bits,
                                    Census& census) const {
  for (std::size_t ahead = 0; ahead < ring.chains.size(); ++ahead) {
    const Tick unit = now + ahead;
    const std::size_t slot = ring.slot_of(unit);
    const Chain& chain = ring.chains[slot];
    if (ring.occupied.test(slot) != (chain.first != kNone)) return "a bit differs from its slot";
    if (chain.first == kNone) continue;
    const Tick last = (unit << bits) | ((Tick{1} << bits) - 1);
    if (auto broken = check_chain(chain, unit << bits, last, census); !broken.empty())
      return broken;
  }
  return {};
}

std::string TimingWheel::check_chain(const Chain& chain, Tick first, Tick last,
                                     Census& census) const {
  std::uint32_t previous = kNone;
  std::size_t chunks = 0;
  for (std::uint32_t number = chain.first; number != kNone; number = chunks_[number].next) {
    const Chunk& chunk = chunks_[number];
    if (chunk.count == 0 || chunk.count > Chunk::kEntries) return "a chunk is empty or overfull";
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const Entry entry = chunk.entries[i];
      if (!counts(entry)) continue;
      if (last < cursor_) return "an entry has been passed";
      // Else it is an old one whose generation has come round, and another does count.
      const bool in_time = first <= std::max(orders_[entry.number()].due, cursor_);
      if (in_time) census.filed[entry.number()] = true;
    }
    census.entries += chunk.count;
    chunks += 1;
    previous = number;
  }
  census.chunks += chunks;
  if (chain.last != previous) return "a chain's end is wrong";
  return chunks == chain.chunks ? "" : "a chain's chunks are miscounted";
}

std::string TimingWheel::check_orders(const Census& census) const {
  std::size_t alive = 0;
  std::size_t filed = 0;
  for (Number number = 0; number < orders_.capacity(); ++number) {
    if (!orders_.has_memory(number)) continue;
    const HeldOrder& held = orders_[number];
    alive += held.alive ? 1 : 0;
    filed += held.filed ? 1 : 0;
    if (held.filed && !held.alive) return "an order that is gone is filed";
    if (held.filed != census.filed[number]) return "an order has no entry that comes in time";
    if (held.alive && !held.filed && held.due != tick_of(kNever)) return "an order is not filed";
    if (held.alive && index_.find(held.id) != number) return "an order is not in the index";
  }
  if (filed != filed_) return "the orders and the count of filed ones differ";
  if (alive != index_.size()) return "the orders and the index differ";
  return alive == orders_.held() ? "" : "an order's memory is lost";
}

}  // namespace order_timeout
