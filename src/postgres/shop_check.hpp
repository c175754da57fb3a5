// Is a table of the shop what the mapping says? A pure comparison of the catalogue's answer with
// what we can work with.
#pragma once

#include <string>
#include <vector>

#include "order_timeout/config.hpp"

namespace order_timeout::postgres {

// One column as queries/relation_columns.sql gives it.
struct FoundColumn {
  std::string name;
  std::string type;  // base type, e.g. "bigint", "character varying"
  bool is_enum = false;
  std::vector<std::string> labels;  // of an enum
};

struct FoundTable {
  bool exists = false;
  std::vector<FoundColumn> columns;
};

struct FoundShop {
  FoundTable orders, items, payments;  // items and payments matter only where they are mapped
};

// Everything that does not fit, each naming column, found and expected; empty: all is well.
std::vector<std::string> mapping_problems(const OrderTableConfig& mapping, const FoundShop& found);

}  // namespace order_timeout::postgres
