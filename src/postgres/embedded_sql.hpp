// The SQL of the repository's sql/ folder as it was at build time (written by embed_sql.cmake).
#pragma once

#include <string_view>
#include <vector>

namespace order_timeout::postgres {

// Text of one file, by its path below sql/, e.g. "queries/claim_events.sql". A path that is not
// there is a mistake of ours: it is named on stderr and the program aborts. O(log files).
std::string_view embedded_sql(std::string_view path);

// Paths of the files of one folder below sql/ ("migrations", "functions", "queries"), sorted by
// name.
std::vector<std::string_view> embedded_sql_paths(std::string_view folder);

}  // namespace order_timeout::postgres
