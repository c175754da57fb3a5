// What a member of the ZSET may look like. Anything may stand there; only what could name an order
// is looked up.
#pragma once

#include <string_view>

#include "order_timeout/config.hpp"

namespace order_timeout {

// True for 1 to 128 bytes of valid UTF-8 without NUL, as an order number is; where members are ids,
// for a decimal 64-bit number without leading zeros. O(length).
bool could_name_an_order(std::string_view member, ReminderMember kind);

}  // namespace order_timeout
