#include "ctl/session.hpp"

#include <exception>
#include <iostream>

#include "daemon/exit_code.hpp"
#include "postgres/conninfo.hpp"
#include "postgres/embedded_sql.hpp"
#include "postgres/failure.hpp"

namespace order_timeout::ctl {
namespace {

std::string_view text_of(std::string_view query) {
  const std::string path = "queries/" + std::string(query) + ".sql";
  return postgres::embedded_sql(path);
}

}  // namespace

Result<Session> Session::open(const Invocation& invocation) {
  Result<std::string> conninfo = postgres::complete_conninfo(
      invocation.database_url(), invocation.config.database.connect_timeout);
  if (!conninfo) return conninfo.error();
  try {
    postgres::ConnectionOptions options;
    options.conninfo = *conninfo;
    options.statement_timeout = invocation.config.database.statement_timeout;
    auto connection = std::make_unique<postgres::Connection>(options);
    connection->begin_session();
    return Session(std::move(connection));
  } catch (const std::exception& error) {
    return postgres::classify(error);
  }
}

Result<postgres::Rows> Session::read(std::string_view query, const postgres::Params& params) {
  try {
    return connection_->read(text_of(query), params);
  } catch (const std::exception& error) {
    return postgres::classify(error);
  }
}

Result<postgres::Rows> Session::write(std::string_view query, const postgres::Params& params) {
  try {
    return connection_->write(text_of(query), params);
  } catch (const std::exception& error) {
    return postgres::classify(error);
  }
}

int report(const Failure& failure) {
  std::cerr << "order-timeoutctl: " << failure.detail;
  if (!failure.sqlstate.empty()) std::cerr << " (SQLSTATE " << failure.sqlstate << ")";
  std::cerr << '\n';
  if (failure.sqlstate == "42501") {
    std::cerr << "  this role may not do that; connect with --url as a role that may: the owner "
                 "for migrate, a member of "
                 "order_timeout_operator for what changes orders\n";
    return kNoPermission;
  }
  if (failure.sqlstate == "3F000" || failure.sqlstate == "42P01" || failure.sqlstate == "42883") {
    std::cerr
        << "  the database has not been prepared: run order-timeoutctl migrate --url OWNER_URL\n";
    return kBadConfiguration;
  }
  switch (failure.kind) {
    case FailureKind::unavailable:
    case FailureKind::timed_out:
    case FailureKind::unknown:
      std::cerr << "  is the database up, and database.url (or --url) right?\n";
      return kUnavailable;
    default:
      return kFailure;
  }
}

}  // namespace order_timeout::ctl
