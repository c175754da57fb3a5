#include "support/sql.hpp"

#include <pqxx/pqxx>
#include <stdexcept>

namespace order_timeout::testing {

struct Session::Connection {
  explicit Connection(const std::string& url) : connection(url), transaction(connection) {
    transaction.exec("SET statement_timeout = '60s'");  // a test that waits for ever fails instead
  }
  pqxx::connection connection;
  pqxx::nontransaction transaction;  // BEGIN and COMMIT are the test's words
};

Session::Session(const std::string& url)
    : url_(url), connection_(std::make_unique<Connection>(url)) {}

Session::~Session() = default;

void Session::reconnect() {
  connection_.reset();
  connection_ = std::make_unique<Connection>(url_);
}

Rows Session::rows(const std::string& sql) {
  Rows rows;
  for (const auto& found : connection_->transaction.exec(sql)) {
    Row row;
    for (const auto& field : found) {
      row.push_back(field.is_null() ? std::nullopt : std::optional(field.as<std::string>()));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string Session::value(const std::string& sql) {
  const Rows found = rows(sql);
  if (found.size() != 1) {
    throw std::runtime_error(std::to_string(found.size()) + " rows instead of one: " + sql);
  }
  return found.front().at(0).value_or("NULL");
}

std::optional<SqlError> Session::refused(const std::string& sql) {
  try {
    rows(sql);
    return std::nullopt;
  } catch (const pqxx::insufficient_privilege& error) {
    return SqlError{"42501", error.what()};  // libpqxx 6.4 leaves its code out
  } catch (const pqxx::sql_error& error) {
    return SqlError{error.sqlstate(), error.what()};
  }
}

std::future<Rows> Session::rows_later(const std::string& sql) {
  return std::async(std::launch::async, [this, sql] { return rows(sql); });
}

int Session::backend_pid() const { return connection_->connection.backendpid(); }

bool wait_for(Session& session, const std::string& sql, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (session.value(sql) != "t") {
    if (std::chrono::steady_clock::now() > end) return false;
    session.exec("SELECT pg_sleep(0.01)");
  }
  return true;
}

bool wait_until_blocked(Session& session, int backend_pid) {
  return wait_for(session, "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND pid = " +
                               std::to_string(backend_pid));
}

}  // namespace order_timeout::testing
