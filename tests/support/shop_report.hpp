// What the sample shop prints: one line a second, and the summary at the end. Pure text.
#pragma once

#include <string>
#include <vector>

#include "support/shop_ledger.hpp"

namespace order_timeout::shop {

// "12 s  placed 612  paid 433  waiting 98  closed 81  released 81  late payments 3  lateness p50 3
// ms  p99 9 ms"
std::string progress_line(Duration open, const Ledger& ledger);

// The figures of the day and the lateness. `drained`: how long the shop waited after its last
// order.
std::string summary(Duration open, Duration drained, const Ledger& ledger);

// One sentence, or the first differences by name.
std::string verdict(const std::vector<std::string>& differences);

}  // namespace order_timeout::shop
