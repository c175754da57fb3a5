#include <string>

#include "postgres/json_text.hpp"
#include "postgres/statements.hpp"

namespace order_timeout::postgres {

namespace {

std::string json_name(const std::string& column) {
  return column.empty() ? "null" : json_string(column);
}

std::string items_text(const ItemsMapping& items) {
  if (items.table.empty()) return "null";
  return json_object({{"table", json_string(items.table)},
                      {"order_id", json_string(items.order_id)},
                      {"columns", json_array(items.columns)}});
}

std::string payments_text(const PaymentsMapping& payments) {
  if (payments.table.empty()) return "null";
  return json_object({{"table", json_string(payments.table)},
                      {"id", json_name(payments.id)},
                      {"order_id", json_name(payments.order_id)},
                      {"status", json_name(payments.status)},
                      {"amount", json_name(payments.amount)},
                      {"created_at", json_name(payments.created_at)},
                      {"paid", json_array(payments.paid)},
                      {"in_progress", json_array(payments.in_progress)}});
}

}  // namespace

std::string mapping_text(const OrderTableConfig& mapping) {
  const OrderColumns& c = mapping.columns;
  const std::string columns = json_object({{"id", json_name(c.id)},
                                           {"order_no", json_name(c.order_no)},
                                           {"user_id", json_name(c.user_id)},
                                           {"business_line", json_name(c.business_line)},
                                           {"status", json_name(c.status)},
                                           {"created_at", json_name(c.created_at)},
                                           {"version", json_name(c.version)},
                                           {"deadline", json_name(c.deadline)},
                                           {"amount", json_name(c.amount)},
                                           {"closed_at", json_name(c.closed_at)},
                                           {"paid_at", json_name(c.paid_at)}});
  const std::string status = json_object({{"pending", json_string(mapping.pending)},
                                          {"closed", json_string(mapping.closed)},
                                          {"paid", json_string(mapping.paid)}});
  return json_object({{"name", json_string(mapping.name)},
                      {"columns", columns},
                      {"status", status},
                      {"time_zone", json_string(mapping.time_zone)},
                      {"items", items_text(mapping.items)},
                      {"payments", payments_text(mapping.payments)}});
}

}  // namespace order_timeout::postgres
