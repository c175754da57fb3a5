// The shop's tables as the catalogue has them now: what mapping_problems() compares a mapping with.
#pragma once

#include "order_timeout/config.hpp"
#include "postgres/connection.hpp"
#include "postgres/shop_check.hpp"

namespace order_timeout::postgres {

// From the rows of queries/relation_columns.sql.
FoundTable found_table(const Rows& rows);

// Throws what Connection::read() throws, and std::invalid_argument on a name that no table can
// have.
FoundShop find_shop(Connection& connection, const OrderTableConfig& mapping);

}  // namespace order_timeout::postgres
