// A session for tests to look and to interfere with: blocking, one thread at a time, transactions
// by plain words.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace order_timeout::testing {

// Rows of columns; a NULL is nothing.
using Row = std::vector<std::optional<std::string>>;
using Rows = std::vector<Row>;

// SQLSTATE and message of a statement that the server refused.
struct SqlError {
  std::string sqlstate;
  std::string message;
};

class Session {
 public:
  // Throws where it cannot connect, as do the others where a statement fails.
  explicit Session(const std::string& url);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Rows rows(const std::string& sql);
  void exec(const std::string& sql) { rows(sql); }
  // The only column of the only row, "NULL" for a NULL; throws where there is not exactly one row.
  std::string value(const std::string& sql);
  // Nothing where the statement is carried out.
  std::optional<SqlError> refused(const std::string& sql);

  void begin(const std::string& options = "") { exec("BEGIN " + options); }
  void commit() { exec("COMMIT"); }
  void rollback() { exec("ROLLBACK"); }

  // On a thread of its own; leave the session alone until it is ready.
  std::future<Rows> rows_later(const std::string& sql);

  int backend_pid() const;
  // Opens a new connection in place of the old one, e.g. after the server was away. Throws where it
  // cannot; the old one is gone then.
  void reconnect();

 private:
  struct Connection;
  std::string url_;
  std::unique_ptr<Connection> connection_;
};

// True once `sql` gives "t" (asked every 10 ms of the server's time), false when it did not within
// `patience`.
bool wait_for(Session& session, const std::string& sql,
              std::chrono::milliseconds patience = std::chrono::seconds(20));

// True once the backend waits for a lock.
bool wait_until_blocked(Session& session, int backend_pid);

}  // namespace order_timeout::testing
