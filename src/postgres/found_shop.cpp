#include "postgres/found_shop.hpp"

#include <sstream>
#include <string>

#include "postgres/embedded_sql.hpp"
#include "postgres/statements.hpp"

namespace order_timeout::postgres {
namespace {

FoundTable find_table(Connection& connection, const std::string& table) {
  if (table.empty()) return {};
  return found_table(
      connection.read(embedded_sql("queries/relation_columns.sql"), {quote_table(table)}));
}

}  // namespace

FoundTable found_table(const Rows& rows) {
  FoundTable found;
  for (int row = 0; row < rows.size(); ++row) {
    found.exists = true;
    if (rows.text(row, 0).empty()) continue;
    FoundColumn column{rows.text(row, 0), rows.text(row, 1), rows.text(row, 2) == "e", {}};
    std::istringstream labels(column.is_enum ? rows.text(row, 3) : std::string());
    for (std::string label; std::getline(labels, label);) column.labels.push_back(label);
    found.columns.push_back(std::move(column));
  }
  return found;
}

FoundShop find_shop(Connection& connection, const OrderTableConfig& mapping) {
  FoundShop found;
  found.orders = find_table(connection, mapping.name);
  found.items = find_table(connection, mapping.items.table);
  found.payments = find_table(connection, mapping.payments.table);
  return found;
}

}  // namespace order_timeout::postgres
