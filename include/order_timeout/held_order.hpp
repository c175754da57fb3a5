// One order as the timing wheel holds it in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "order_timeout/order.hpp"
#include "order_timeout/slab.hpp"

namespace order_timeout {

// A due instant as an unsigned number of milliseconds that sorts alike: kAlways is 0.
using Tick = std::uint64_t;

struct HeldOrder {
  OrderId id;
  Tick due;
  Version version;
  std::uint8_t generation;  // of the entry that counts: one with another number is stale
  Source source;
  bool alive;  // else free, and only the generation means something
  bool filed;  // there is an entry for it in the wheel; not so while it is due never
};
static_assert(sizeof(HeldOrder) == 24);

using HeldOrders = Slab<HeldOrder, 65'536>;

}  // namespace order_timeout
