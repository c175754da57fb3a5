// Time is cut into windows. An order waits as an entry of four bytes in the finest place that is
// open for its due tick:
//
//   fine ring    512 slots of 1 ms       | window w | window w+1 |       (256 ms each)
//   coarse ring  32,768 slots of 256 ms  | window W | window W+1 |       (70 minutes each)
//   far          a sorted map            | W+2 | W+3 | ...               (70 minutes each)
//                 ^ cursor is in w, and w is in W
//
// - The fine slot at the cursor is due. While the cursor walks through w, the entries of the coarse
//   slot w+1 are brought into the fine ring, a share with every tick that passes; so are those of
//   window W+1 into the coarse ring. When the cursor comes there, (nearly) all are there already:
//   no moment at which thousands of them have to be moved at once. An order that is due within 70
//   minutes is moved once.
// - Bits say which slots are occupied: empty time is never walked through.
// - A jump of time finds the windows between not brought in: then the first of them is brought in
//   when the cursor enters it, before anything of it is taken out. All of this is cut into chunks
//   of 30 entries, and a call that has done its work stops between two of them.
// - A slot is a chain of chunks of two cache lines, not a list of orders: a list costs a dependent
//   cache miss for each order (150 to 330 ns at 100 million), a chunk lets 30 of them overlap.
//
// An order itself is a HeldOrder, found by its id through the index. The entry says its number and
// a generation, and counts only if that is the order's: so to cancel an order, or to move it to an
// earlier tick, leaves a stale entry behind that is dropped when it is come across. An order that
// is moved to a later tick keeps its entry, which is filed again when its time comes (extensions
// are the usual case). When more entries are stale than count, every operation sweeps a chunk,
// round all chains, until it is no longer so.
//
// Why no order is early, late, lost or taken out twice:
// - It is taken out only at the cursor, after a look at the order itself: its tick must have come.
// - Its entry that counts is never in a place behind its tick, and the cursor passes no entry.
// - `filed` is taken from the order with its entry: whatever other entry may look like its own (the
//   generation has 32 values and comes round) finds nothing to take out.
//
// Eight bytes of a tick reach beyond every instant, and the map beyond the rings takes any of them:
// no due instant is out of range, and nothing wraps. Orders due never have no entry.
#include "order_timeout/wheel.hpp"

#include <algorithm>

namespace order_timeout {
namespace {

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
constexpr Tick kTickNever = ~Tick{0};
constexpr std::size_t kAtOnce = 16;  // orders of a batch whose memory is loaded together

}  // namespace

TimingWheel::TimingWheel(Instant start, std::size_t most_orders)
    : most_orders_(std::min(most_orders, kMostOrders)),
      cursor_(tick_of(start)),
      horizon_(cursor_) {}

Tick TimingWheel::tick_of(Instant instant) { return static_cast<Tick>(to_ms(instant)) ^ kSignBit; }

Instant TimingWheel::instant_of(Tick tick) {
  return instant_from_ms(static_cast<std::int64_t>(tick ^ kSignBit));
}

TrackedOrder TimingWheel::order_of(const HeldOrder& held) {
  return {
      .id = held.id, .due = instant_of(held.due), .version = held.version, .source = held.source};
}

// --- By order id -----------------------------------------------------------------------------

bool TimingWheel::schedule(const TrackedOrder& order) {
  sweep_if_crowded();
  const Number known = index_.find(order.id);
  if (known != kNone) return reschedule(known, order);
  if (size() == most_orders_) return false;
  const Number number = orders_.take();
  HeldOrder& held = orders_[number];
  held.id = order.id;
  held.due = tick_of(order.due);
  held.version = order.version;
  held.source = order.source;
  held.alive = true;
  index_.insert(order.id, number);
  file(number);
  return true;
}

bool TimingWheel::reschedule(Number number, const TrackedOrder& order) {
  HeldOrder& held = orders_[number];
  const Tick due = tick_of(order.due);
  const bool entry_stays = held.filed && due != kTickNever && std::max(due, cursor_) >= held.due;
  held.version = order.version;
  held.source = order.source;
  held.due = due;
  if (entry_stays) return true;
  unfile(held);
  file(number);
  return true;
}

bool TimingWheel::cancel(OrderId id) {
  const Number number = index_.find(id);
  if (number == kNone) return false;
  unfile(orders_[number]);
  forget(number);
  sweep_if_crowded();
  return true;
}

std::optional<TrackedOrder> TimingWheel::find(OrderId id) const {
  const Number number = index_.find(id);
  if (number == kNone) return std::nullopt;
  return order_of(orders_[number]);
}

std::size_t TimingWheel::schedule(std::span<const TrackedOrder> orders) {
  std::size_t taken_in = 0;
  while (!orders.empty()) {
    const auto some = orders.first(std::min(kAtOnce, orders.size()));
    for (const TrackedOrder& order : some) index_.prefetch(order.id);
    for (const TrackedOrder& order : some) index_.prefetch_order(order.id);
    for (const TrackedOrder& order : some) taken_in += schedule(order) ? 1 : 0;
    orders = orders.subspan(some.size());
  }
  return taken_in;
}

std::size_t TimingWheel::cancel(std::span<const OrderId> ids) {
  std::size_t held = 0;
  while (!ids.empty()) {
    const auto some = ids.first(std::min(kAtOnce, ids.size()));
    for (const OrderId id : some) index_.prefetch(id);
    for (const OrderId id : some) index_.prefetch_order(id);
    for (const OrderId id : some) held += cancel(id) ? 1 : 0;
    ids = ids.subspan(some.size());
  }
  return held;
}

// Takes its entry from an order; the entry stays behind.
void TimingWheel::unfile(HeldOrder& held) {
  if (!held.filed) return;
  held.filed = false;
  held.generation = (held.generation + 1) & Entry::kGenerationMask;
  filed_ -= 1;
}

// Requires: the order is not filed.
void TimingWheel::forget(Number number) {
  HeldOrder& held = orders_[number];
  index_.erase(held.id, number);
  held.alive = false;
  orders_.release(number);
}

bool TimingWheel::counts(Entry entry) const {
  if (!orders_.has_memory(entry.number())) return false;
  const HeldOrder& held = orders_[entry.number()];
  return held.filed && held.generation == entry.generation();
}

// --- Places ----------------------------------------------------------------------------------

// Gives an order that is not filed its entry, in the finest place that is open for its tick.
void TimingWheel::file(Number number) {
  HeldOrder& held = orders_[number];
  if (held.due == kTickNever) return;
  held.filed = true;
  filed_ += 1;
  const Entry entry{number, held.generation};
  const Tick due = std::max(held.due, cursor_);
  if (held.due < cursor_) oldest_overdue_ = std::min(oldest_overdue_, held.due);
  if (due >> kFineBits <= (cursor_ >> kFineBits) + 1) {
    append(fine_, due, entry);
  } else if (due >> kFarBits <= (cursor_ >> kFarBits) + 1) {
    append(coarse_, due >> kFineBits, entry);
  } else {
    append(far_[due >> kFarBits], entry);
  }
}

void TimingWheel::append(Ring& ring, Tick unit, Entry entry) {
  const std::size_t slot = ring.slot_of(unit);
  append(ring.chains[slot], entry);
  ring.occupied.set(slot);
}

void TimingWheel::append(Chain& chain, Entry entry) {
  if (chain.last == kNone || chunks_[chain.last].count == Chunk::kEntries) {
    const std::uint32_t added = chunks_.take();
    chunks_[added].next = kNone;
    chunks_[added].count = 0;
    (chain.last == kNone ? chain.first : chunks_[chain.last].next) = added;
    chain.last = added;
    chain.chunks += 1;
  }
  Chunk& chunk = chunks_[chain.last];
  chunk.entries[chunk.count] = entry;
  chunk.count += 1;
  entries_ += 1;
}

// The chunk is the caller's to release, its entries no longer counted.
std::uint32_t TimingWheel::remove_first_chunk(Chain& chain) {
  const std::uint32_t first = chain.first;
  chain.first = chunks_[first].next;
  if (chain.first == kNone) chain.last = kNone;
  chain.chunks -= 1;
  entries_ -= chunks_[first].count;
  return first;
}

// Files anew what counts among the first entries of a chain, and drops the stale ones. What is
// taken as work are the entries seen.
void TimingWheel::refile_chunk(Chain& chain) {
  const std::uint32_t first = remove_first_chunk(chain);
  const Chunk chunk = chunks_[first];
  chunks_.release(first);
  for (std::size_t i = 0; i < chunk.count; ++i) orders_.prefetch(chunk.entries[i].number());
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const Entry entry = chunk.entries[i];
    if (!counts(entry)) continue;
    orders_[entry.number()].filed = false;
    filed_ -= 1;
    file(entry.number());
  }
  work_ -= std::min<std::size_t>(work_, chunk.count);
}

void TimingWheel::refile_chunk(Ring& ring, Tick unit) {
  const std::size_t slot = ring.slot_of(unit);
  refile_chunk(ring.chains[slot]);
  if (ring.chains[slot].first == kNone) ring.occupied.clear(slot);
}

void TimingWheel::refile_far_chunk() {
  const auto nearest = far_.begin();
  refile_chunk(nearest->second);
  if (nearest->second.first == kNone) far_.erase(nearest);
}

std::optional<Tick> TimingWheel::Ring::first_in(Tick from, Tick last) const {
  const std::size_t begin = slot_of(from);
  const Tick units = std::min<Tick>(last - from, chains.size() - 1) + 1;
  if (const auto slot = occupied.first_in(begin, std::min(begin + units, chains.size()))) {
    return from + (*slot - begin);
  }
  if (begin + units <= chains.size()) return std::nullopt;
  const auto slot = occupied.first_in(0, begin + units - chains.size());
  if (!slot) return std::nullopt;
  return from + (chains.size() - begin) + *slot;
}

// --- Time ------------------------------------------------------------------------------------

std::vector<TrackedOrder> TimingWheel::advance(Instant now, Budget budget) {
  horizon_ = std::max(horizon_, tick_of(now));
  work_ = budget.work;
  std::vector<TrackedOrder> due;
  while (due.size() < budget.orders && work_ > 0) {
    if (bring_in_window()) continue;
    if (fine_.occupied.test(fine_.slot_of(cursor_))) {
      take_due(due, budget.orders);
    } else if (cursor_ < horizon_) {
      move_time();
    } else {
      break;
    }
  }
  return due;
}

// A chunk of the windows in which the cursor is, where one of them is not all in the fine ring yet.
bool TimingWheel::bring_in_window() {
  if (!far_.empty() && far_.begin()->first == cursor_ >> kFarBits) {
    refile_far_chunk();
    return true;
  }
  const Tick unit = cursor_ >> kFineBits;
  if (!coarse_.occupied.test(coarse_.slot_of(unit))) return false;
  refile_chunk(coarse_, unit);
  return true;
}

// To the first place with entries, or to the horizon. Requires: there are none at the cursor.
void TimingWheel::move_time() {
  const Tick next = first_place(horizon_).value_or(horizon_);
  bring_in_ahead(next - cursor_);
  cursor_ = next;
  oldest_overdue_ = kTickNever;
}

// The earliest tick, from the cursor to `last`, at which there may be an order.
std::optional<Tick> TimingWheel::first_place(Tick last) const {
  std::optional<Tick> first = fine_.first_in(cursor_, last);
  const auto coarse = coarse_.first_in(cursor_ >> kFineBits, first.value_or(last) >> kFineBits);
  if (coarse) first = std::min(first.value_or(last), std::max(*coarse << kFineBits, cursor_));
  if (far_.empty() || far_.begin()->first > last >> kFarBits) return first;
  return std::min(first.value_or(last), std::max(far_.begin()->first << kFarBits, cursor_));
}

// Brings in so much of the next windows that all of them is there in time, if every tick does its
// share.
void TimingWheel::bring_in_ahead(Tick passed) {
  const auto share = [passed](const Chain& chain, Tick ticks_left) {
    const Tick ticks = std::min(passed, ticks_left);
    return static_cast<std::size_t>((chain.chunks * ticks + ticks_left - 1) / ticks_left);
  };
  const Tick next = (cursor_ >> kFineBits) + 1;
  const Chain& coarse = coarse_.chains[coarse_.slot_of(next)];
  std::size_t chunks = share(coarse, (next << kFineBits) - cursor_);
  for (; chunks > 0 && work_ > 0; --chunks) refile_chunk(coarse_, next);

  const Tick next_far = (cursor_ >> kFarBits) + 1;
  if (far_.empty() || far_.begin()->first != next_far) return;
  chunks = share(far_.begin()->second, (next_far << kFarBits) - cursor_);
  for (; chunks > 0 && work_ > 0; --chunks) refile_far_chunk();
}

// Takes out what the first chunk at the cursor holds.
void TimingWheel::take_due(std::vector<TrackedOrder>& due, std::size_t max) {
  const std::size_t slot = fine_.slot_of(cursor_);
  Chain& chain = fine_.chains[slot];
  Chunk& chunk = chunks_[chain.first];
  std::array<Number, Chunk::kEntries> taken;
  std::size_t count = 0;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < chunk.count; ++i) orders_.prefetch(chunk.entries[i].number());
  for (; seen < chunk.count && due.size() + count < max; ++seen) {
    const Entry entry = chunk.entries[seen];
    if (!counts(entry)) continue;
    HeldOrder& held = orders_[entry.number()];
    held.filed = false;
    filed_ -= 1;
    if (held.due > cursor_) {
      file(entry.number());
    } else {
      index_.prefetch(held.id);
      taken[count++] = entry.number();
    }
  }
  work_ -= std::min(work_, seen);
  if (seen == chunk.count) {
    chunks_.release(remove_first_chunk(chain));
    if (chain.first == kNone) fine_.occupied.clear(slot);
  } else {
    std::copy(chunk.entries.begin() + static_cast<std::ptrdiff_t>(seen),
              chunk.entries.begin() + static_cast<std::ptrdiff_t>(chunk.count),
              chunk.entries.begin());
    chunk.count -= static_cast<std::uint32_t>(seen);
    entries_ -= seen;
  }
  for (std::size_t i = 0; i < count; ++i) {
    due.push_back(order_of(orders_[taken[i]]));
    forget(taken[i]);
  }
}

std::optional<Instant> TimingWheel::next_due() const {
  if (filed_ == 0) return std::nullopt;
  const Tick first = first_place(kTickNever).value_or(cursor_);
  return instant_of(first == cursor_ ? std::min(first, oldest_overdue_) : first);
}

}  // namespace order_timeout
