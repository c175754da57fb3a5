#include "order_timeout/order_index.hpp"

#include <utility>

namespace order_timeout {
namespace {

constexpr std::size_t kFirstEntries = 64;

// The finisher of SplitMix64 (Steele, Lea, Flood 2014): ids are often consecutive, and linear
// probing wants them scattered.
std::uint64_t scatter(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58'476D'1CE4'E5B9;
  value = (value ^ (value >> 27)) * 0x94D0'49BB'1331'11EB;
  return value ^ (value >> 31);
}

}  // namespace

std::size_t OrderIndex::home_of(OrderId id) const {
  return scatter(static_cast<std::uint64_t>(id)) & (entries_.size() - 1);
}

std::size_t OrderIndex::position_of(OrderId id) const {
  std::size_t position = home_of(id);
  while (entries_[position].node != kNone && entries_[position].id != id) {
    position = (position + 1) & (entries_.size() - 1);
  }
  return position;
}

std::uint32_t OrderIndex::find(OrderId id) const {
  return entries_.empty() ? kNone : entries_[position_of(id)].node;
}

void OrderIndex::insert(OrderId id, std::uint32_t node) {
  if ((size_ + 1) * 4 > entries_.size() * 3) grow();
  entries_[position_of(id)] = Entry{.id = id, .node = node};
  ++size_;
}

// Knuth's algorithm R: an entry behind the gap moves into it, unless its search would begin after
// the gap anyway.
void OrderIndex::erase(OrderId id) {
  const std::size_t mask = entries_.size() - 1;
  std::size_t gap = position_of(id);
  for (std::size_t next = (gap + 1) & mask; entries_[next].node != kNone;
       next = (next + 1) & mask) {
    const std::size_t probes_to_next = (next - home_of(entries_[next].id)) & mask;
    const std::size_t gap_to_next = (next - gap) & mask;
    if (probes_to_next < gap_to_next) continue;
    entries_[gap] = entries_[next];
    gap = next;
  }
  entries_[gap] = Entry{};
  --size_;
}

void OrderIndex::grow() {
  const std::size_t entries = entries_.empty() ? kFirstEntries : entries_.size() * 2;
  const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(entries));
  for (const Entry& entry : old) {
    if (entry.node != kNone) entries_[position_of(entry.id)] = entry;
  }
}

}  // namespace order_timeout
