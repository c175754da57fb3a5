#include "postgres/shop_check.hpp"

#include <algorithm>
#include <string_view>

namespace order_timeout::postgres {

namespace {

using Types = std::vector<std::string_view>;

const Types kIntegers{"smallint", "integer", "bigint"};
const Types kOrderNumbers{"text", "character varying", "bigint"};
const Types kTimes{"timestamp with time zone", "timestamp without time zone"};
const Types kNumbers{"smallint", "integer", "bigint", "numeric", "real", "double precision"};
const Types kStatus{"text", "character varying", "smallint", "integer", "bigint", "an enum"};
const Types kAnything{};

bool contains(const Types& types, std::string_view type) {
  return std::ranges::find(types, type) != types.end();
}

std::string joined(const Types& types) {
  std::string result;
  for (const std::string_view type : types) {
    if (!result.empty()) result += type == types.back() ? " or " : ", ";
    result += type;
  }
  return result;
}

class TableCheck {
 public:
  TableCheck(std::string key, std::string table, const FoundTable& found,
             std::vector<std::string>& problems)
      : key_(std::move(key)), table_(std::move(table)), found_(found), problems_(problems) {
    if (!found_.exists) problems_.push_back(key_ + ": there is no table " + table_);
  }

  // An empty name is a column that is not mapped.
  void column(std::string_view role, const std::string& name, const Types& expected) {
    const FoundColumn* column = find(name);
    if (!found_.exists || name.empty()) return;
    if (column == nullptr) {
      problems_.push_back(place(role) + ": table " + table_ + " has no column " + name);
    } else if (!expected.empty() && !contains(expected, column->type) &&
               !(column->is_enum && contains(expected, "an enum"))) {
      problems_.push_back(place(role) + ": column " + name + " of " + table_ + " is " +
                          column->type + ", expected " + joined(expected));
    }
  }

  void value(std::string_view role, const std::string& name, const std::string& value) {
    const FoundColumn* column = find(name);
    if (column == nullptr) return;
    if (column->is_enum && std::ranges::find(column->labels, value) == column->labels.end()) {
      problems_.push_back(place(role) + ": " + value + " is not a value of " + column->type +
                          ", the type of column " + name + " of " + table_);
    }
    if (contains(kIntegers, column->type) && !is_integer(value)) {
      problems_.push_back(place(role) + ": " + value + " is not an integer, as column " + name +
                          " of " + table_ + " is " + column->type);
    }
  }

 private:
  static bool is_integer(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && text.size() <= 18 &&
           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  }

  std::string place(std::string_view role) const { return key_ + '.' + std::string(role); }

  const FoundColumn* find(const std::string& name) const {
    const auto column = std::ranges::find(found_.columns, name, &FoundColumn::name);
    return column == found_.columns.end() ? nullptr : &*column;
  }

  std::string key_;
  std::string table_;
  const FoundTable& found_;
  std::vector<std::string>& problems_;
};

void check_orders(const OrderTableConfig& mapping, const FoundTable& found,
                  std::vector<std::string>& problems) {
  const OrderColumns& c = mapping.columns;
  TableCheck orders("order_table", mapping.name, found, problems);
  orders.column("columns.id", c.id, kIntegers);
  orders.column("columns.order_no", c.order_no, kOrderNumbers);
  orders.column("columns.user_id", c.user_id, kAnything);
  orders.column("columns.business_line", c.business_line, kAnything);
  orders.column("columns.status", c.status, kStatus);
  orders.column("columns.created_at", c.created_at, kTimes);
  orders.column("columns.version", c.version, kIntegers);
  orders.column("columns.deadline", c.deadline, kTimes);
  orders.column("columns.amount", c.amount, kNumbers);
  orders.column("columns.closed_at", c.closed_at, kTimes);
  orders.column("columns.paid_at", c.paid_at, kTimes);
  orders.value("status.pending", c.status, mapping.pending);
  orders.value("status.closed", c.status, mapping.closed);
  orders.value("status.paid", c.status, mapping.paid);
}

void check_items(const ItemsMapping& mapping, const FoundTable& found,
                 std::vector<std::string>& problems) {
  TableCheck items("order_table.items", mapping.table, found, problems);
  items.column("order_id", mapping.order_id, kIntegers);
  for (const std::string& column : mapping.columns) items.column("columns", column, kAnything);
}

void check_payments(const PaymentsMapping& mapping, const FoundTable& found,
                    std::vector<std::string>& problems) {
  TableCheck payments("order_table.payments", mapping.table, found, problems);
  payments.column("id", mapping.id, kAnything);
  payments.column("order_id", mapping.order_id, kIntegers);
  payments.column("status", mapping.status, kStatus);
  payments.column("amount", mapping.amount, kNumbers);
  payments.column("created_at", mapping.created_at, kTimes);
  for (const std::string& value : mapping.paid) payments.value("paid", mapping.status, value);
  for (const std::string& value : mapping.in_progress) {
    payments.value("in_progress", mapping.status, value);
  }
}

}  // namespace

std::vector<std::string> mapping_problems(const OrderTableConfig& mapping, const FoundShop& found) {
  std::vector<std::string> problems;
  check_orders(mapping, found.orders, problems);
  if (!mapping.items.table.empty()) check_items(mapping.items, found.items, problems);
  if (!mapping.payments.table.empty()) check_payments(mapping.payments, found.payments, problems);
  return problems;
}

}  // namespace order_timeout::postgres
