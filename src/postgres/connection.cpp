#include "postgres/connection.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <pqxx/pqxx>
#include <utility>

#include "postgres/conninfo.hpp"
#include "postgres/embedded_sql.hpp"
#include "postgres/failure.hpp"

namespace order_timeout::postgres {
namespace {

constexpr int kGoodByeMs = 500;

#if PQXX_VERSION_MAJOR >= 7
pqxx::params pack(const Params& params) {
  pqxx::params packed;
  for (const auto& value : params) {
    if (value) {
      packed.append(*value);
    } else {
      packed.append();
    }
  }
  return packed;
}
#else
std::vector<const char*> pack(const Params& params) {
  std::vector<const char*> packed;
  packed.reserve(params.size());
  for (const auto& value : params) packed.push_back(value ? value->c_str() : nullptr);
  return packed;
}
#endif

pqxx::result execute(pqxx::transaction_base& transaction, std::string_view sql,
                     const Params& params) {
  const std::string text(sql);
#if PQXX_VERSION_MAJOR > 7 || (PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR >= 10)
  return transaction.exec(text, pack(params));
#elif PQXX_VERSION_MAJOR == 7
  return transaction.exec_params(text, pack(params));
#else
  return transaction.exec_params(text, pqxx::prepare::make_dynamic_params(pack(params)));
#endif
}

// libpqxx 6.4 opens a lost connection again by itself, and nobody would notice.
void never_reconnect([[maybe_unused]] pqxx::connection& connection) {
#if PQXX_VERSION_MAJOR < 7
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  connection.inhibit_reactivation(true);
#pragma GCC diagnostic pop
#endif
}

void disconnect(pqxx::connection& connection) {
#if PQXX_VERSION_MAJOR < 7
  connection.disconnect();
#else
  connection.close();
#endif
}

std::string sqlstate_of(const std::exception& error) {
  const auto* refused = dynamic_cast<const pqxx::sql_error*>(&error);
  return refused == nullptr ? std::string{} : refused->sqlstate();
}

// Runs `statement`; an exception that leaves the connection broken becomes AnswerLost.
template <class Call>
auto guarded(const pqxx::connection& connection, AnswerLost::Statement statement, Call call) {
  try {
    return call();
  } catch (const pqxx::in_doubt_error&) {
    throw;
  } catch (const std::exception& error) {
    if (connection.is_open()) throw;
    throw AnswerLost(statement, error.what(), sqlstate_of(error));
  }
}

}  // namespace

struct Rows::Impl {
  pqxx::result result;
  pqxx::field at(int row, int column) const {
    return result[static_cast<pqxx::result::size_type>(row)]
                 [static_cast<pqxx::row::size_type>(column)];
  }
};

Rows::Rows(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Rows::Rows(Rows&&) noexcept = default;
Rows& Rows::operator=(Rows&&) noexcept = default;
Rows::~Rows() = default;

int Rows::size() const { return static_cast<int>(impl_->result.size()); }

std::int64_t Rows::affected() const {
  return static_cast<std::int64_t>(impl_->result.affected_rows());
}

bool Rows::is_null(int row, int column) const { return impl_->at(row, column).is_null(); }

std::string Rows::text(int row, int column) const {
  const pqxx::field field = impl_->at(row, column);
  return field.is_null() ? std::string{} : std::string(field.c_str(), field.size());
}

std::int64_t Rows::integer(int row, int column) const {
  const pqxx::field field = impl_->at(row, column);
  return field.is_null() ? 0 : field.as<std::int64_t>();
}

double Rows::real(int row, int column) const {
  const pqxx::field field = impl_->at(row, column);
  return field.is_null() ? 0 : field.as<double>();
}

bool Rows::flag(int row, int column) const { return text(row, column) == "t"; }

std::optional<Instant> Rows::instant(int row, int column) const {
  if (is_null(row, column)) return std::nullopt;
  return instant_from_ms(integer(row, column));
}

struct Connection::Impl {
  explicit Impl(const std::string& conninfo) : connection(conninfo) {}
  pqxx::connection connection;
};

Connection::Connection(const ConnectionOptions& options)
    : statement_timeout_(options.statement_timeout) {
  try {
    impl_ = std::make_unique<Impl>(options.conninfo);
  } catch (const std::exception& error) {
    throw ConnectFailed(without_passwords(error.what()));
  }
  never_reconnect(impl_->connection);
  backend_.pid = impl_->connection.backendpid();
}

Connection::~Connection() = default;

void Connection::begin_session() {
  const std::string timeout = std::to_string(statement_timeout_.count());
  try {
    const Rows rows = read(embedded_sql("queries/session_settings.sql"), {timeout});
    backend_.pid = static_cast<int>(rows.integer(0, 0));
    backend_.started = rows.text(0, 1);
  } catch (const AnswerLost& lost) {
    throw ConnectFailed(lost.what());
  }
}

Rows Connection::read(std::string_view sql, const Params& params) {
  return guarded(impl_->connection, AnswerLost::Statement::reads, [&] {
    pqxx::nontransaction statement(impl_->connection);
    return Rows(std::make_unique<Rows::Impl>(Rows::Impl{execute(statement, sql, params)}));
  });
}

Rows Connection::write(std::string_view sql, const Params& params) {
  return guarded(impl_->connection, AnswerLost::Statement::writes, [&] {
    pqxx::nontransaction statement(impl_->connection);
    return Rows(std::make_unique<Rows::Impl>(Rows::Impl{execute(statement, sql, params)}));
  });
}

int Connection::socket() const { return impl_->connection.sock(); }
int Connection::server_version() const { return impl_->connection.server_version(); }
bool Connection::open() const { return impl_->connection.is_open(); }

bool Connection::usable() const {
  if (!open()) return false;
  pollfd descriptor{.fd = socket(), .events = POLLIN, .revents = 0};
  return ::poll(&descriptor, 1, 0) == 0;
}

void Connection::close() {
  // A second descriptor of the same socket outlives libpq's: its end of file is the server
  // process's end. Not just anything to read: its last words are that, too.
  const int descriptor = open() ? ::dup(socket()) : -1;
  disconnect(impl_->connection);
  if (descriptor < 0) return;
  ::shutdown(descriptor, SHUT_WR);
  pollfd ended{.fd = descriptor, .events = POLLRDHUP, .revents = 0};
  ::poll(&ended, 1, kGoodByeMs);
  ::close(descriptor);
}

struct Transaction::Impl {
  explicit Impl(pqxx::connection& on) : connection(on), work(on) {}
  pqxx::connection& connection;
  pqxx::work work;
};

Transaction::Transaction(Connection& connection)
    : impl_(guarded(connection.impl_->connection, AnswerLost::Statement::reads,
                    [&] { return std::make_unique<Impl>(connection.impl_->connection); })) {}

Transaction::~Transaction() = default;

// Without COMMIT nothing takes effect, so that a lost answer here is that of a read.
Rows Transaction::query(std::string_view sql, const Params& params) {
  return guarded(impl_->connection, AnswerLost::Statement::reads, [&] {
    return Rows(std::make_unique<Rows::Impl>(Rows::Impl{execute(impl_->work, sql, params)}));
  });
}

void Transaction::commit() {
  guarded(impl_->connection, AnswerLost::Statement::writes, [&] {
    impl_->work.commit();
    return Done{};
  });
}

}  // namespace order_timeout::postgres
