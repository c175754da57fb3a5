// migrate and sql: the database objects, applied or printed for a DBA.
#include <boost/json.hpp>
#include <exception>
#include <iostream>

#include "ctl/invocation.hpp"
#include "ctl/session.hpp"
#include "daemon/exit_code.hpp"
#include "postgres/migrations.hpp"

namespace order_timeout::ctl {
namespace {

void print_text(const postgres::MigrationReport& report, bool drop_view) {
  for (const std::string& notice : report.notices) std::cout << "notice: " << notice << '\n';
  if (drop_view) {
    std::cout << "views and close functions dropped; closing pauses until the next migrate\n";
    return;
  }
  for (const std::string& name : report.applied) std::cout << "applied " << name << '\n';
  if (report.applied.empty())
    std::cout << "no new migration; views, functions and grants made anew\n";
  std::cout << "schema version " << report.schema_version << '\n';
}

void print_json(const postgres::MigrationReport& report) {
  boost::json::array applied(report.applied.begin(), report.applied.end());
  boost::json::array notices(report.notices.begin(), report.notices.end());
  const boost::json::object document{{"applied", std::move(applied)},
                                     {"schema_version", report.schema_version},
                                     {"notices", std::move(notices)}};
  std::cout << boost::json::serialize(document) << '\n';
}

}  // namespace

int migrate(const Invocation& invocation, bool drop_view) {
  Result<postgres::MigrationReport> done =
      postgres::migrate(invocation.database_url(), invocation.config.order_table, drop_view);
  if (!done) return report(done.error());
  if (invocation.json) {
    print_json(*done);
  } else {
    print_text(*done, drop_view);
  }
  return kSuccess;
}

int print_sql(const Invocation& invocation) {
  try {
    std::cout << postgres::full_script(invocation.config.order_table);
  } catch (const std::exception& error) {  // a name that no PostgreSQL object can have
    std::cerr << "order-timeoutctl: order_table: " << error.what() << '\n';
    return kBadConfiguration;
  }
  return kSuccess;
}

}  // namespace order_timeout::ctl
