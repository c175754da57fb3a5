#include "postgres/statements.hpp"

#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "postgres/json_text.hpp"

namespace order_timeout::postgres {

namespace {

constexpr std::size_t kIdentifierBytesMax = 63;

std::string doubled(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote) result += quote;
    result += c;
  }
  return result + quote;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string result;
  for (const std::string& part : parts) {
    if (!result.empty()) result += between;
    result += part;
  }
  return result;
}

template <class Quote>
std::string joined_each(const std::vector<std::string>& parts, Quote quote) {
  std::vector<std::string> quoted;
  for (const std::string& part : parts) quoted.push_back(quote(part));
  return joined(quoted, ", ");
}

// Columns of one table under the alias that the templates give it.
class Columns {
 public:
  Columns(std::string alias, bool mapped) : alias_(std::move(alias)), mapped_(mapped) {}

  std::string typed(const std::string& column, std::string_view type) const {
    if (!mapped_ || column.empty()) return "NULL::" + std::string(type);
    return alias_ + '.' + quote_identifier(column);
  }

 private:
  std::string alias_;
  bool mapped_;
};

// What we read of a table, in the order of the mapping, each column once.
std::vector<std::string> without_gaps(const std::vector<std::string>& columns) {
  std::set<std::string> seen;
  std::vector<std::string> result;
  for (const std::string& column : columns) {
    if (!column.empty() && seen.insert(column).second) result.push_back(column);
  }
  return result;
}

std::vector<std::string> order_columns(const OrderTableConfig& mapping) {
  const OrderColumns& c = mapping.columns;
  return without_gaps({c.id, c.order_no, c.user_id, c.business_line, c.status, c.created_at,
                       c.version, c.deadline, c.amount, c.closed_at, c.paid_at});
}

struct ReadTable {
  std::string name;  // as configured
  std::vector<std::string> columns;
};

std::vector<ReadTable> other_tables(const OrderTableConfig& mapping) {
  std::vector<ReadTable> tables;
  if (!mapping.items.table.empty()) {
    std::vector<std::string> columns = mapping.items.columns;
    columns.insert(columns.begin(), mapping.items.order_id);
    tables.push_back({mapping.items.table, without_gaps(columns)});
  }
  if (!mapping.payments.table.empty()) {
    const PaymentsMapping& p = mapping.payments;
    tables.push_back({p.table, without_gaps({p.id, p.order_id, p.status, p.amount, p.created_at})});
  }
  return tables;
}

void add_order_tokens(Tokens& tokens, const OrderTableConfig& mapping) {
  const OrderColumns& c = mapping.columns;
  const Columns order("o", true);
  tokens["order_table"] = quote_table(mapping.name);
  tokens["order_table_text"] = quote_literal(quote_table(mapping.name));
  tokens["order_column_names"] =
      "array[" + joined_each(order_columns(mapping), quote_literal) + "]";
  tokens["id"] = order.typed(c.id, "bigint");
  tokens["order_no"] = order.typed(c.order_no, "text");
  tokens["user_id"] = order.typed(c.user_id, "text");
  tokens["business_line"] = order.typed(c.business_line, "text");
  tokens["status"] = order.typed(c.status, "text");
  tokens["created_at"] = order.typed(c.created_at, "timestamptz");
  tokens["version"] = order.typed(c.version, "int");
  tokens["version_mark"] = "(" + tokens["version"] + "::bigint & 2147483647)::int";
  tokens["deadline"] = order.typed(c.deadline, "timestamptz");
  tokens["amount"] = order.typed(c.amount, "numeric");
  tokens["closed_at"] = order.typed(c.closed_at, "timestamptz");
  tokens["paid_at"] = order.typed(c.paid_at, "timestamptz");
  tokens["status_pending"] = quote_literal(mapping.pending);
  tokens["status_closed"] = quote_literal(mapping.closed);
  tokens["status_paid"] = quote_literal(mapping.paid);
  tokens["time_zone"] = quote_literal(mapping.time_zone);

  std::vector<std::string> assignments{quote_identifier(c.status) + " = " +
                                       tokens["status_closed"]};
  if (!c.version.empty()) {
    assignments.push_back(quote_identifier(c.version) + " = " + tokens["version"] + " + 1");
  }
  if (!c.closed_at.empty()) {
    assignments.push_back(quote_identifier(c.closed_at) + " = order_timeout.shop_time(now(), " +
                          tokens["closed_at"] + ")");
  }
  tokens["close_assignments"] = joined(assignments, ",\n           ");

  assignments.front() = quote_identifier(c.status) + " = " + tokens["status_paid"];
  if (!c.closed_at.empty()) assignments.pop_back();
  if (!c.paid_at.empty()) {
    assignments.push_back(quote_identifier(c.paid_at) + " = coalesce(" + tokens["paid_at"] +
                          ", order_timeout.shop_time(now(), " + tokens["paid_at"] + "))");
  }
  tokens["pay_assignments"] = joined(assignments, ",\n           ");
}

// A table that is not mapped gives a view without rows, of the same columns.
std::string source_of(const std::string& table, const std::string& alias) {
  if (table.empty()) return "(select) as " + alias + " where false";
  return quote_table(table) + " as " + alias;
}

void add_item_tokens(Tokens& tokens, const ItemsMapping& items) {
  const bool mapped = !items.table.empty();
  const Columns item("i", mapped);
  std::vector<std::string> pairs;
  for (const std::string& column : without_gaps(items.columns)) {
    pairs.push_back(quote_literal(column) + ", " + item.typed(column, "text"));
  }
  tokens["items_mapped"] = mapped ? "true" : "false";
  tokens["item_order_id"] = item.typed(items.order_id, "bigint");
  tokens["item_object"] = "jsonb_build_object(" + (mapped ? joined(pairs, ", ") : "") + ')';
  tokens["item_source"] = source_of(items.table, "i");
}

void add_payment_tokens(Tokens& tokens, const PaymentsMapping& payments) {
  const bool mapped = !payments.table.empty();
  const Columns payment("p", mapped);
  tokens["payment_order_id"] = payment.typed(payments.order_id, "bigint");
  tokens["payment_id"] = payment.typed(payments.id, "text");
  tokens["payment_status"] = payment.typed(payments.status, "text");
  tokens["payment_amount"] = payment.typed(payments.amount, "numeric");
  tokens["payment_created_at"] = payment.typed(payments.created_at, "timestamptz");
  const auto is_one_of = [&](const std::vector<std::string>& values) {
    if (!mapped || values.empty()) return std::string("false");
    return tokens["payment_status"] + " in (" + joined_each(values, quote_literal) + ")";
  };
  tokens["payment_paid"] = is_one_of(payments.paid);
  tokens["payment_in_progress"] = is_one_of(payments.in_progress);
  tokens["payment_source"] = source_of(payments.table, "p");
}

std::string column_grant(const std::string& right, const ReadTable& table) {
  return "grant " + right + " (" + joined_each(table.columns, quote_identifier) + ") on " +
         quote_table(table.name) + " to order_timeout_owner;";
}

std::string schema_of(const std::string& table) {
  const std::size_t dot = table.find('.');
  return quote_identifier(dot == std::string::npos ? "public" : table.substr(0, dot));
}

void add_grant_tokens(Tokens& tokens, const OrderTableConfig& mapping) {
  const OrderColumns& c = mapping.columns;
  const ReadTable order{mapping.name, order_columns(mapping)};
  const ReadTable written{mapping.name,
                          without_gaps({c.status, c.version, c.closed_at, c.paid_at})};
  std::vector<std::string> grants{column_grant("select", order), column_grant("update", written)};
  std::vector<std::string> names{quote_table(mapping.name)};
  std::set<std::string> schemas{schema_of(mapping.name)};
  std::vector<std::string> keys;
  for (const ReadTable& table : other_tables(mapping)) {
    grants.push_back(column_grant("select", table));
    names.push_back(quote_table(table.name));
    schemas.insert(schema_of(table.name));
    keys.push_back(json_string(quote_table(table.name)) + ':' + json_array(table.columns));
  }
  tokens["shop_tables"] = joined(names, ", ");
  tokens["shop_schemas"] = joined({schemas.begin(), schemas.end()}, ", ");
  tokens["shop_grants"] = joined(grants, "\n");
  tokens["other_tables"] = quote_literal('{' + joined(keys, ",") + '}');
}

std::string unused_tag(const Tokens& tokens) {
  for (int number = 0;; ++number) {
    const std::string name = "$body" + (number == 0 ? "" : std::to_string(number)) + '$';
    bool used = false;
    for (const auto& [token, value] : tokens) used = used || value.find(name) != std::string::npos;
    if (!used) return name;
  }
}

}  // namespace

std::string quote_identifier(std::string_view name) {
  if (name.empty() || name.size() > kIdentifierBytesMax) {
    throw std::invalid_argument("a name has 1 to 63 bytes, not " + std::to_string(name.size()) +
                                ": \"" + std::string(name.substr(0, 100)) + "\"");
  }
  if (name.find('\0') != std::string_view::npos) {
    throw std::invalid_argument("a name cannot hold a NUL byte");
  }
  return doubled(name, '"');
}

std::string quote_table(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return "\"public\"." + quote_identifier(name);
  if (name.find('.', dot + 1) != std::string_view::npos) {
    throw std::invalid_argument("a table is named [schema.]table, not \"" + std::string(name) +
                                "\"");
  }
  return quote_identifier(name.substr(0, dot)) + '.' + quote_identifier(name.substr(dot + 1));
}

std::string quote_literal(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    throw std::invalid_argument("a value cannot hold a NUL byte");
  }
  return doubled(text, '\'');
}

std::string render(std::string_view template_text, const Tokens& tokens) {
  std::string result;
  while (true) {
    const std::size_t open = template_text.find("{{");
    result += template_text.substr(0, open);
    if (open == std::string_view::npos) return result;
    const std::size_t close = template_text.find("}}", open);
    const std::string_view name =
        template_text.substr(open + 2, close == std::string_view::npos ? close : close - open - 2);
    const auto value = tokens.find(name);
    if (close == std::string_view::npos || value == tokens.end()) {
      std::fprintf(stderr, "no value for {{%s}} in a SQL template\n", std::string(name).c_str());
      std::abort();
    }
    result += value->second;
    template_text.remove_prefix(close + 2);
  }
}

Tokens mapping_tokens(const OrderTableConfig& mapping) {
  Tokens tokens;
  add_order_tokens(tokens, mapping);
  add_item_tokens(tokens, mapping.items);
  add_payment_tokens(tokens, mapping.payments);
  add_grant_tokens(tokens, mapping);
  tokens["mapping"] = quote_literal(mapping_text(mapping));
  tokens["tag"] = unused_tag(tokens);
  return tokens;
}

std::string render_function(std::string_view template_text, const OrderTableConfig& mapping) {
  return render(template_text, mapping_tokens(mapping));
}

}  // namespace order_timeout::postgres
