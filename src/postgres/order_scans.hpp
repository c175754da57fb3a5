// Reading pending orders in pages, oldest first: what is new (discovery), and the scans of rebuild
// and sweeps. Blocking; each function runs on a connection's thread.
#pragma once

#include <optional>

#include "order_timeout/time.hpp"
#include "ports.hpp"
#include "postgres/connection.hpp"

namespace order_timeout::postgres {

// Where a discovery that was too long for one call goes on. It keeps the watermark of its first
// page: an order that committed late, behind the pages already read, must still lie after it.
struct DiscoveryPosition {
  Instant watermark{};  // as asked for
  Instant next_watermark{};
  ScanPosition after;
};

struct Discovery {
  Discovered found;
  std::optional<DiscoveryPosition> rest;  // where not complete
};

struct DiscoveryRequest {
  Instant watermark{};
  std::optional<DiscoveryPosition> from;  // the rest of an earlier one with the same watermark
  Duration enough{2'500};                 // no new page is begun after that
};

// At most 50,000 orders, in pages of 5,000. Throws what classify() understands, as do all here.
Discovery discover_orders(Connection& connection, const DiscoveryRequest& request);

ScanPage scan_orders(Connection& connection, const ScanRequest& request);

// The order of a row (id, due, version at `first_column`); one without a rule that closes is due
// never.
TrackedOrder tracked_order(const Rows& rows, int row, int first_column);

}  // namespace order_timeout::postgres
