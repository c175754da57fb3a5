#include "postgres/migrations.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "postgres/conninfo.hpp"
#include "postgres/embedded_sql.hpp"
#include "postgres/failure.hpp"
#include "postgres/shop_check.hpp"
#include "postgres/statements.hpp"

namespace order_timeout::postgres {

namespace {

// Whoever connects owns the shop's tables and makes the roles; after schema.sql the owner's role
// makes our objects.
constexpr std::array kBeforeMigrations{"functions/settings.sql", "functions/roles.sql",
                                       "functions/shop_grants.sql", "functions/schema.sql"};
// A view needs the functions and views it names to be there.
constexpr std::array kAfterMigrations{"functions/drop_views.sql",
                                      "functions/instants.sql",
                                      "functions/order_number_keys.sql",
                                      "functions/shop_order.sql",
                                      "functions/shop_item.sql",
                                      "functions/shop_payment.sql",
                                      "functions/timed_order.sql",
                                      "functions/order_deadline.sql",
                                      "functions/judge_and_close.sql",
                                      "functions/close_orders.sql",
                                      "functions/close_orders_by_hand.sql",
                                      "functions/record_payment.sql",
                                      "functions/pay_order.sql",
                                      "functions/watch_closed.sql",
                                      "functions/set_deadline.sql",
                                      "functions/extend_order.sql",
                                      "functions/extend_order_by_hand.sql",
                                      "functions/hold_order.sql",
                                      "functions/apply_rules.sql",
                                      "functions/quarantine_order.sql",
                                      "functions/oldest_transaction_start.sql",
                                      "functions/mapping_state.sql",
                                      "functions/retire_events.sql",
                                      "functions/record_mapping.sql",
                                      "functions/grants.sql"};
constexpr std::array kDropView{"functions/settings.sql", "functions/drop_views.sql",
                               "functions/drop_close.sql"};

constexpr Duration kConnectTimeout{10'000};

// "0001" of migrations/0001_rules.sql, and "rules".
struct Migration {
  int version = 0;
  std::string name;
};

Migration migration_of(std::string_view path) {
  const std::string file(path.substr(path.find('/') + 1));
  const std::size_t gap = file.find('_');
  return {std::stoi(file.substr(0, gap)),
          file.substr(gap + 1, file.size() - gap - 1 - std::string_view(".sql").size())};
}

int newest_version() { return migration_of(embedded_sql_paths("migrations").back()).version; }

void append(std::string& script, std::string_view path, const Tokens& tokens) {
  script += render(embedded_sql(path), tokens);
  script += '\n';
}

void append_migrations(std::string& script, Tokens tokens) {
  tokens["version"] = std::to_string(newest_version());
  append(script, "functions/check_version.sql", tokens);
  for (const std::string_view path : embedded_sql_paths("migrations")) {
    const Migration migration = migration_of(path);
    tokens["version"] = std::to_string(migration.version);
    tokens["name"] = quote_literal(migration.name);
    tokens["statements"] = "$migration$\n" + std::string(embedded_sql(path)) + "$migration$";
    append(script, "functions/apply_migration.sql", tokens);
  }
}

std::string script_body(const OrderTableConfig& mapping) {
  const Tokens tokens = mapping_tokens(mapping);
  std::string script;
  for (const char* path : kBeforeMigrations) append(script, path, tokens);
  append_migrations(script, tokens);
  for (const char* path : kAfterMigrations) append(script, path, tokens);
  return script;
}

std::string drop_view_body(const OrderTableConfig& mapping) {
  const Tokens tokens = mapping_tokens(mapping);
  std::string script;
  for (const char* path : kDropView) append(script, path, tokens);
  return script;
}

// Keeps what the server says beside its answers.
class Notices : public pqxx::errorhandler {
 public:
  Notices(pqxx::connection_base& connection, std::vector<std::string>& texts)
      : pqxx::errorhandler(connection), texts_(texts) {}

  bool operator()(const char text[]) noexcept override {
    try {
      const std::string line = one_line(text, 500);
      // "already exists, skipping" and its kind say nothing to an operator.
      if (line.find("skipping") == std::string::npos) texts_.push_back(line);
    } catch (const std::exception&) {
      return true;  // no memory for a notice: the migration matters more
    }
    return false;
  }

 private:
  std::vector<std::string>& texts_;
};

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

FoundTable find_table(pqxx::work& transaction, const std::string& table) {
  FoundTable found;
  if (table.empty()) return found;
  const pqxx::result rows = transaction.exec_params(
      std::string(embedded_sql("queries/relation_columns.sql")), quote_table(table));
  for (const auto& row : rows) {
    found.exists = true;
    if (row[0].is_null()) continue;
    FoundColumn column{row[0].as<std::string>(), row[1].as<std::string>(), false, {}};
    column.is_enum = row[2].as<std::string>() == "e";
    if (column.is_enum && !row[3].is_null()) column.labels = split_lines(row[3].as<std::string>());
    found.columns.push_back(std::move(column));
  }
  return found;
}

void check_shop(pqxx::work& transaction, const OrderTableConfig& mapping) {
  const FoundShop found{.orders = find_table(transaction, mapping.name),
                        .items = find_table(transaction, mapping.items.table),
                        .payments = find_table(transaction, mapping.payments.table)};
  std::string all;
  for (const std::string& problem : mapping_problems(mapping, found)) {
    all += (all.empty() ? "" : "; ") + problem;
  }
  if (!all.empty()) throw std::invalid_argument(all);
}

std::vector<Migration> applied_migrations(pqxx::work& transaction) {
  std::vector<Migration> applied;
  const std::string query(embedded_sql("queries/applied_migrations.sql"));
  for (const auto& row : transaction.exec(query)) {
    applied.push_back({row[0].as<int>(), row[1].as<std::string>()});
  }
  return applied;
}

bool schema_exists(pqxx::work& transaction) {
  const std::string query(embedded_sql("queries/relation_columns.sql"));
  return !transaction.exec_params(query, std::string("order_timeout.schema_version")).empty();
}

MigrationReport run(pqxx::work& transaction, const OrderTableConfig& mapping) {
  MigrationReport report;
  const std::vector<Migration> before =
      schema_exists(transaction) ? applied_migrations(transaction) : std::vector<Migration>{};
  transaction.exec(script_body(mapping));
  for (const Migration& migration : applied_migrations(transaction)) {
    report.schema_version = migration.version;
    if (std::ranges::find(before, migration.version, &Migration::version) == before.end()) {
      report.applied.push_back(migration.name);
    }
  }
  return report;
}

MigrationReport migrate_or_throw(const std::string& conninfo, const OrderTableConfig& mapping,
                                 bool drop_view) {
  std::vector<std::string> notices;
  MigrationReport report;
  pqxx::connection connection(conninfo);
  const Notices keep_notices(connection, notices);
  pqxx::work transaction(connection);
  if (drop_view) {
    transaction.exec(drop_view_body(mapping));
    if (schema_exists(transaction)) {
      for (const Migration& m : applied_migrations(transaction)) report.schema_version = m.version;
    }
  } else {
    check_shop(transaction, mapping);
    report = run(transaction, mapping);
  }
  transaction.commit();
  report.notices = std::move(notices);
  return report;
}

}  // namespace

std::string full_script(const OrderTableConfig& mapping) {
  return render(embedded_sql("functions/script.sql"), {{"body", script_body(mapping)}});
}

Result<MigrationReport> migrate(const std::string& url, const OrderTableConfig& mapping,
                                bool drop_view) {
  const Result<std::string> conninfo = complete_conninfo(url, kConnectTimeout);
  if (!conninfo) return conninfo.error();
  try {
    return migrate_or_throw(conninfo.value(), mapping, drop_view);
  } catch (const std::invalid_argument& problem) {
    return Failure{FailureKind::rejected, problem.what(), ""};
  } catch (const std::exception& error) {
    return classify(error);
  }
}

}  // namespace order_timeout::postgres
