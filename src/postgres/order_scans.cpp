#include "postgres/order_scans.hpp"

#include <chrono>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "postgres/embedded_sql.hpp"

namespace order_timeout::postgres {
namespace {

constexpr int kDiscoveryPage = 5'000;
constexpr std::size_t kDiscoveryMax = 50'000;

struct KeyText {
  std::string created;
  std::string id;
};

KeyText key_text(const ScanPosition& position) {
  if (!position.created.empty()) return {position.created, std::to_string(position.id)};
  return {"-infinity", std::to_string(std::numeric_limits<OrderId>::min())};
}

ScanPosition last_position(const Rows& rows) {
  const int last = rows.size() - 1;
  return ScanPosition{rows.text(last, 3), rows.integer(last, 0)};
}

std::string_view statement_of(ScanKind kind) {
  switch (kind) {
    case ScanKind::everything_pending:
      return embedded_sql("queries/scan_pending.sql");
    case ScanKind::everything_due:
      return embedded_sql("queries/scan_due.sql");
    case ScanKind::deadline_near:
      return embedded_sql("queries/scan_deadline_near.sql");
    case ScanKind::recently_due:
      break;
  }
  return embedded_sql("queries/scan_recently_due.sql");
}

DiscoveryPosition first_position(Connection& connection, Instant watermark) {
  const Rows rows = connection.read(embedded_sql("queries/discovery_watermark.sql"));
  DiscoveryPosition position;
  position.watermark = watermark;
  position.next_watermark = instant_from_ms(rows.integer(0, 0));
  return position;
}

}  // namespace

TrackedOrder tracked_order(const Rows& rows, int row, int first_column) {
  TrackedOrder order;
  order.id = rows.integer(row, first_column);
  order.due = rows.instant(row, first_column + 1).value_or(kNever);
  order.version = static_cast<Version>(rows.integer(row, first_column + 2));
  return order;
}

Discovery discover_orders(Connection& connection, const DiscoveryRequest& request) {
  const auto began = std::chrono::steady_clock::now();
  // Asked before the orders are read: what was running then may still commit one behind the pages.
  DiscoveryPosition position =
      request.from ? *request.from : first_position(connection, request.watermark);
  Discovery discovery;
  auto& orders = discovery.found.orders;
  for (bool full = true; full;) {
    const KeyText after = key_text(position.after);
    const Params params{std::to_string(to_ms(request.watermark)), after.created, after.id,
                        std::to_string(kDiscoveryPage)};
    const Rows rows = connection.read(embedded_sql("queries/discover_orders.sql"), params);
    for (int row = 0; row < rows.size(); ++row) {
      if (rows.flag(row, 4)) orders.push_back(tracked_order(rows, row, 0));
    }
    full = rows.size() == kDiscoveryPage;
    if (!full) break;
    position.after = last_position(rows);
    const bool enough = orders.size() >= kDiscoveryMax ||
                        std::chrono::steady_clock::now() - began >= request.enough;
    if (enough) discovery.rest = position;
    full = !enough;
  }
  discovery.found.complete = !discovery.rest;
  discovery.found.next_watermark =
      discovery.rest ? request.watermark : std::max(request.watermark, position.next_watermark);
  return discovery;
}

ScanPage scan_orders(Connection& connection, const ScanRequest& request) {
  const KeyText after = key_text(request.after);
  Params params{after.created, after.id, std::to_string(request.page_size)};
  if (request.kind == ScanKind::recently_due) {
    params.insert(params.begin(),
                  std::to_string(to_ms(request.became_due_since.value_or(kAlways))));
  }
  const Rows rows = connection.read(statement_of(request.kind), params);
  ScanPage page;
  for (int row = 0; row < rows.size(); ++row) {
    if (rows.flag(row, 4)) page.orders.push_back(tracked_order(rows, row, 0));
    if (rows.flag(row, 5)) ++page.too_old;
  }
  page.scanned = rows.size();
  if (rows.size() == request.page_size) page.next = last_position(rows);
  return page;
}

}  // namespace order_timeout::postgres
