// A blocking session with the database for one verb: failures are values, told to the operator with
// a remedy.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ctl/invocation.hpp"
#include "order_timeout/outcome.hpp"
#include "postgres/connection.hpp"

namespace order_timeout::ctl {

class Session {
 public:
  static Result<Session> open(const Invocation& invocation);

  // One of sql/queries by its name, e.g. "order_overview". Values go as parameters.
  Result<postgres::Rows> read(std::string_view query, const postgres::Params& params = {});
  Result<postgres::Rows> write(std::string_view query, const postgres::Params& params = {});

  int backend_pid() const { return connection_->backend().pid; }

 private:
  explicit Session(std::unique_ptr<postgres::Connection> connection)
      : connection_(std::move(connection)) {}

  std::unique_ptr<postgres::Connection> connection_;
};

// Tells standard error what went wrong and what to do about it; gives the exit code.
int report(const Failure& failure);

}  // namespace order_timeout::ctl
