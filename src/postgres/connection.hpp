// One connection to PostgreSQL: opened with our bounds, asked in single statements, closed by us.
// With failure.cpp the only file that knows libpqxx (6.4 and 7.x). A Connection lives on one
// thread; every call blocks until PostgreSQL answers, the connection breaks, or another thread
// shuts its socket down (bulkhead).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "order_timeout/outcome.hpp"
#include "order_timeout/time.hpp"

namespace order_timeout::postgres {

// Everything goes as text and is cast in the statement; nothing is NULL.
using Params = std::vector<std::optional<std::string>>;

// What a statement answered. Columns count from 0; a NULL is read as empty, 0 or false unless asked
// for.
class Rows {
 public:
  struct Impl;
  explicit Rows(std::unique_ptr<Impl> impl);
  Rows(Rows&&) noexcept;
  Rows& operator=(Rows&&) noexcept;
  ~Rows();

  int size() const;
  std::int64_t affected() const;  // rows that an UPDATE, DELETE or INSERT changed
  bool is_null(int row, int column) const;
  std::string text(int row, int column) const;
  std::int64_t integer(int row, int column) const;
  double real(int row, int column) const;
  bool flag(int row, int column) const;
  // An instant in epoch_ms() form: the ends of the range stand for infinity.
  std::optional<Instant> instant(int row, int column) const;

 private:
  std::unique_ptr<Impl> impl_;
};

// The server process behind a connection. Process ids are reused, so the start belongs to it.
struct Backend {
  int pid = 0;
  std::string started;  // PostgreSQL's text; empty where it was never told

  friend bool operator==(const Backend&, const Backend&) = default;
};

struct ConnectionOptions {
  std::string conninfo;  // from complete_conninfo()
  Duration statement_timeout{5'000};
};

class Connection {
 public:
  // Throws ConnectFailed. Blocks for connect_timeout per address at most.
  explicit Connection(const ConnectionOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The one settings statement of a session. Nothing depends on it for correctness (a pooler may
  // hand us another session with each statement): it bounds what a statement may take.
  void begin_session();

  // One statement in its own transaction, one round trip. Both throw what classify() understands; a
  // lost answer of a write is unknown, that of a read is not.
  Rows read(std::string_view sql, const Params& params = {});
  Rows write(std::string_view sql, const Params& params = {});

  int socket() const;  // -1 where it is closed
  const Backend& backend() const { return backend_; }
  int server_version() const;
  bool open() const;
  // Open, and the server has said nothing while we asked nothing: what it says then is good-bye.
  bool usable() const;

  // Says good-bye and waits (500 ms at most) until the server process has ended, so that its
  // successor is never one too many. The connection is closed afterwards.
  void close();

 private:
  friend class Transaction;
  struct Impl;
  std::unique_ptr<Impl> impl_;
  Duration statement_timeout_;
  Backend backend_;
};

// Several statements that take effect together. Rolled back unless committed; not for calls over a
// network in between.
class Transaction {
 public:
  explicit Transaction(Connection& connection);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  Rows query(std::string_view sql, const Params& params = {});
  // A lost answer is unknown.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace order_timeout::postgres
