// The database objects of order-timeoutd: as one script for a DBA, and applied.
#pragma once

#include <string>
#include <vector>

#include "order_timeout/config.hpp"
#include "order_timeout/outcome.hpp"

namespace order_timeout::postgres {

// Roles, migrations, views, functions and grants for this shop, in one transaction, for psql -v
// ON_ERROR_STOP=1. Running it again changes nothing. Throws std::invalid_argument on a name that no
// PostgreSQL object can have.
std::string full_script(const OrderTableConfig& mapping);

struct MigrationReport {
  std::vector<std::string> applied;  // names of the migrations this run added, in order
  int schema_version = 0;            // afterwards
  std::vector<std::string> notices;  // what the server had to say, for the operator
};

// Checks the shop's tables and columns against the mapping, then runs full_script(). Connects as
// whoever owns the shop's tables. With `drop_view` it only drops the views and the close functions,
// so that the shop's table can be altered; the daemon pauses until the next migrate. Blocks;
// `rejected` names table, column, found and expected.
Result<MigrationReport> migrate(const std::string& url, const OrderTableConfig& mapping,
                                bool drop_view);

}  // namespace order_timeout::postgres
