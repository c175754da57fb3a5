// The sample shop of sql/sample/shop.sql, mapped.
#pragma once

#include "order_timeout/config.hpp"

namespace order_timeout::testing {

// All optional columns but `deadline`, items and payments are mapped.
OrderTableConfig sample_order_table();

}  // namespace order_timeout::testing
