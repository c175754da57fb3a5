// A due instant is a 64-bit number of milliseconds, the tick: eight bytes, eight levels. An order
// is kept on the level of the highest byte in which its tick differs from the wheel's cursor, in
// the slot that this byte names. With the cursor at .. 00 05 2A (bytes of 8 bits, in hex):
//
//   level 2 (slots of 65.5 s)  |  |##|  |  |  |    due  .. 01 FF 03   in slot 01
//   level 1 (slots of 256 ms)  |  |  |  |##|  |    due  .. 00 08 77   in slot 08
//   level 0 (slots of 1 ms)    |  |  |##|  |##|    due  .. 00 05 2A   in slot 2A
//                                     ^ cursor     due  .. 00 05 40   in slot 40
//
// From this rule all else follows:
// - Everything on a level is due before everything on the levels above, and on a level the slots
//   lie in the order of time. So the earliest order is in the first occupied slot of the lowest
//   occupied level; bits say which that is, and empty time is never walked through.
// - When the cursor enters a slot above level 0, the orders in it share that byte with the cursor
//   and belong on lower levels: they cascade. An order cascades at most once a level.
// - Wherever else the cursor goes before the first occupied slot, no order changes its place.
// - Orders of one tick are always in the same slot, and lists are first in, first out: so ties come
//   out in the order they were scheduled.
// - Eight bytes are all there are: no due instant is beyond the range, and nothing wraps.
//
// Two kinds of orders are not on the levels: those due never, and those that the cursor had passed
// when they were scheduled. The latter are in a sorted map of lists, all before the cursor, and
// come out first.
//
// Orders live in nodes of 32 bytes, in chunks that never move, and are linked by 32-bit numbers.
#include "order_timeout/wheel.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace order_timeout {
namespace {

constexpr std::size_t kBitsPerLevel = 8;
constexpr std::uint64_t kSlotMask = 0xFF;
constexpr std::size_t kBitsPerWord = 64;
constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

}  // namespace

TimingWheel::TimingWheel(Instant start) : cursor_(tick_of(start)), horizon_(cursor_) {}

void TimingWheel::schedule(const TrackedOrder& order) {
  NodeNumber number = index_.find(order.id);
  if (number != kNil) {
    unlink(number);
  } else {
    number = take_free_node();
    index_.insert(order.id, number);
  }
  Node& held = node(number);
  held.id = order.id;
  held.due = tick_of(order.due);
  held.version = order.version;
  held.source = order.source;
  file(number);
}

bool TimingWheel::cancel(OrderId id) {
  const NodeNumber number = index_.find(id);
  if (number == kNil) return false;
  remove(number);
  return true;
}

std::optional<TrackedOrder> TimingWheel::find(OrderId id) const {
  const NodeNumber number = index_.find(id);
  if (number == kNil) return std::nullopt;
  return order_of(node(number));
}

std::vector<TrackedOrder> TimingWheel::advance(Instant now, std::size_t max) {
  horizon_ = std::max(horizon_, tick_of(now));
  std::vector<TrackedOrder> due;
  take_overdue(due, max);
  while (due.size() < max) {
    const auto slot = first_occupied_slot();
    if (!slot || start_of(*slot) > horizon_) {
      cursor_ = horizon_;
      break;
    }
    cursor_ = start_of(*slot);
    if (*slot < kSlotsPerLevel) {
      take_from(lists_[*slot], due, max);
    } else {
      cascade(*slot);
    }
  }
  return due;
}

std::optional<Instant> TimingWheel::next_due() const {
  if (!overdue_.empty()) return instant_of(overdue_.begin()->first);
  const auto slot = first_occupied_slot();
  if (!slot) return std::nullopt;
  return instant_of(start_of(*slot));
}

std::size_t TimingWheel::memory_bytes() const {
  constexpr std::size_t kMapNode = 64;  // a list, its tick and the tree's own part
  return sizeof(*this) + chunks_.size() * kNodesPerChunk * sizeof(Node) + index_.memory_bytes() +
         chunks_.capacity() * sizeof(chunks_[0]) + overdue_.size() * kMapNode;
}

TimingWheel::Tick TimingWheel::tick_of(Instant instant) {
  return static_cast<Tick>(to_ms(instant)) ^ kSignBit;
}

Instant TimingWheel::instant_of(Tick tick) {
  return instant_from_ms(static_cast<std::int64_t>(tick ^ kSignBit));
}

TrackedOrder TimingWheel::order_of(const Node& node) {
  return {
      .id = node.id, .due = instant_of(node.due), .version = node.version, .source = node.source};
}

TimingWheel::NodeNumber TimingWheel::take_free_node() {
  if (free_ == kNil) add_chunk();
  const NodeNumber number = free_;
  free_ = node(number).next;
  return number;
}

void TimingWheel::release(NodeNumber number) {
  node(number).next = free_;
  free_ = number;
}

void TimingWheel::add_chunk() {
  const std::size_t first = chunks_.size() * kNodesPerChunk;
  if (first + kNodesPerChunk > kNil) std::abort();  // 137 GB of orders: the numbers are used up
  chunks_.push_back(std::make_unique<Node[]>(kNodesPerChunk));
  for (std::size_t i = kNodesPerChunk; i > 0; --i) release(static_cast<NodeNumber>(first + i - 1));
}

// Requires: due >= cursor_.
std::uint16_t TimingWheel::slot_for(Tick due) const {
  const Tick difference = due ^ cursor_;
  const std::size_t level =
      difference == 0 ? 0
                      : (static_cast<std::size_t>(std::bit_width(difference)) - 1) / kBitsPerLevel;
  const std::uint64_t byte = (due >> (level * kBitsPerLevel)) & kSlotMask;
  return static_cast<std::uint16_t>(level * kSlotsPerLevel + byte);
}

// The first tick of an occupied slot: the cursor's bytes above the level, the slot's, then zeros.
TimingWheel::Tick TimingWheel::start_of(std::size_t slot) const {
  const std::size_t shift = slot / kSlotsPerLevel * kBitsPerLevel;
  const Tick from_slot = (slot % kSlotsPerLevel) << shift;
  const Tick below_level_above = (kSlotMask << shift) | ((Tick{1} << shift) - 1);
  return (cursor_ & ~below_level_above) | from_slot;
}

std::optional<std::size_t> TimingWheel::first_occupied_slot() const {
  for (std::size_t word = 0; word < occupied_.size(); ++word) {
    if (occupied_[word] == 0) continue;
    return word * kBitsPerWord + static_cast<std::size_t>(std::countr_zero(occupied_[word]));
  }
  return std::nullopt;
}

TimingWheel::List& TimingWheel::list_of(const Node& node) {
  return node.slot == kOverdueSlot ? overdue_.find(node.due)->second : lists_[node.slot];
}

// Puts a node, which is in no list, at the end of the list where its tick belongs.
void TimingWheel::file(NodeNumber number) {
  Node& filed = node(number);
  List* list = nullptr;
  if (filed.due == tick_of(kNever)) {
    filed.slot = kNeverSlot;
    list = &lists_[kNeverSlot];
  } else if (filed.due < cursor_) {
    filed.slot = kOverdueSlot;
    list = &overdue_[filed.due];
  } else {
    filed.slot = slot_for(filed.due);
    list = &lists_[filed.slot];
    occupied_[filed.slot / kBitsPerWord] |= std::uint64_t{1} << (filed.slot % kBitsPerWord);
  }
  filed.previous = list->last;
  filed.next = kNil;
  (list->last == kNil ? list->first : node(list->last).next) = number;
  list->last = number;
}

void TimingWheel::unlink(NodeNumber number) {
  const Node& gone = node(number);
  List& list = list_of(gone);
  (gone.previous == kNil ? list.first : node(gone.previous).next) = gone.next;
  (gone.next == kNil ? list.last : node(gone.next).previous) = gone.previous;
  if (list.first != kNil) return;
  if (gone.slot == kOverdueSlot) {
    overdue_.erase(gone.due);
  } else if (gone.slot != kNeverSlot) {
    occupied_[gone.slot / kBitsPerWord] &= ~(std::uint64_t{1} << (gone.slot % kBitsPerWord));
  }
}

void TimingWheel::remove(NodeNumber number) {
  unlink(number);
  index_.erase(node(number).id);
  release(number);
}

// Requires: the cursor stands at the slot's start, so that every order moves to a lower level.
void TimingWheel::cascade(std::size_t slot) {
  NodeNumber number = lists_[slot].first;
  lists_[slot] = List{};
  occupied_[slot / kBitsPerWord] &= ~(std::uint64_t{1} << (slot % kBitsPerWord));
  while (number != kNil) {
    const NodeNumber next = node(number).next;
    file(number);
    number = next;
  }
}

void TimingWheel::take_overdue(std::vector<TrackedOrder>& due, std::size_t max) {
  while (!overdue_.empty() && due.size() < max) {
    take_from(overdue_.begin()->second, due, max);
  }
}

// Takes orders out from the front of a list; the last one takes the list with it if it is overdue.
void TimingWheel::take_from(List& list, std::vector<TrackedOrder>& due, std::size_t max) {
  for (NodeNumber number = list.first; number != kNil && due.size() < max;) {
    const Node& taken = node(number);
    const NodeNumber next = taken.next;
    due.push_back(order_of(taken));
    remove(number);
    number = next;
  }
}

std::string TimingWheel::check_invariants() const {
  if (cursor_ > horizon_) return "the cursor is ahead of the wheel's time";
  std::size_t counted = 0;
  for (std::size_t slot = 0; slot <= kSlots; ++slot) {
    const bool bit =
        slot < kSlots && ((occupied_[slot / kBitsPerWord] >> (slot % kBitsPerWord)) & 1);
    if (slot < kSlots && bit != (lists_[slot].first != kNil)) return "a bit differs from its slot";
    if (auto broken = check_list(lists_[slot], slot, counted); !broken.empty()) return broken;
  }
  for (const auto& [tick, list] : overdue_) {
    if (tick >= cursor_) return "an overdue list is not before the cursor";
    if (list.first == kNil) return "an overdue list is empty";
    if (node(list.first).due != tick) return "an overdue order is in another tick's list";
    if (auto broken = check_list(list, kOverdueSlot, counted); !broken.empty()) return broken;
  }
  if (counted != index_.size()) return "the lists and the index hold different numbers of orders";
  for (NodeNumber number = free_; number != kNil; number = node(number).next) ++counted;
  if (counted != chunks_.size() * kNodesPerChunk) return "a node is neither held nor free";
  return {};
}

std::string TimingWheel::check_list(const List& list, std::size_t slot,
                                    std::size_t& counted) const {
  NodeNumber previous = kNil;
  for (NodeNumber number = list.first; number != kNil; number = node(number).next) {
    const Node& held = node(number);
    if (held.previous != previous) return "a link back is wrong";
    if (held.slot != slot) return "a node does not know its slot";
    if (index_.find(held.id) != number) return "an order is not in the index";
    if (slot < kSlots && (held.due < cursor_ || slot_for(held.due) != slot)) {
      return "an order is in a slot that is not its own";
    }
    if (slot == kNeverSlot && held.due != tick_of(kNever)) return "an order is parked for ever";
    if (slot == kOverdueSlot && held.due != node(list.first).due) return "ticks are mixed";
    previous = number;
    ++counted;
  }
  return list.last == previous ? "" : "a list's end is wrong";
}

}  // namespace order_timeout
