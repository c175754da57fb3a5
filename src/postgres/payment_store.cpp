#include "postgres/payment_store.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "postgres/array_text.hpp"
#include "postgres/embedded_sql.hpp"
#include "postgres/failure.hpp"
#include "postgres/order_scans.hpp"

namespace order_timeout::postgres {
namespace {

constexpr std::size_t kReasonBytesMax = 500;

Notice notice_of(const Rows& rows, int row) {
  Notice notice;
  notice.id = rows.integer(row, 0);
  notice.order_id = rows.integer(row, 1);
  notice.order_no = rows.text(row, 2);
  notice.business_line = rows.text(row, 3);
  notice.kind = rows.text(row, 4);
  notice.by = rows.text(row, 5);
  notice.reason = rows.text(row, 6);
  notice.host = rows.text(row, 7);
  notice.detail_json = rows.text(row, 8);
  notice.at = rows.instant(row, 9).value_or(Instant{});
  if (rows.flag(row, 10)) notice.waits = tracked_order(rows, row, 11);
  return notice;
}

std::vector<Notice> read_notices(Connection& connection, int limit) {
  const Params params{std::to_string(limit)};
  const Rows rows = connection.read(embedded_sql("queries/untold_notices.sql"), params);
  std::vector<Notice> notices;
  for (int row = 0; row < rows.size(); ++row) notices.push_back(notice_of(rows, row));
  return notices;
}

std::vector<CheckedOrder> read_checked(Connection& connection, const Params& params) {
  const Rows rows = connection.read(embedded_sql("queries/orders_to_check.sql"), params);
  std::vector<CheckedOrder> orders;
  for (int row = 0; row < rows.size(); ++row) {
    orders.push_back({rows.integer(row, 0), rows.text(row, 1), rows.text(row, 2),
                      rows.instant(row, 3).value_or(kNever)});
  }
  return orders;
}

// After the last event come the orders remembered beyond theirs.
WatchedPage watch_events(Connection& connection, const WatchPosition& from, int limit) {
  const Params params{std::to_string(from.event_id), std::to_string(limit)};
  const Rows rows = connection.write(embedded_sql("queries/watch_closed_events.sql"), params);
  WatchedPage page;
  page.looked_at = rows.integer(0, 1);
  page.touched = rows.integer(0, 2);
  WatchPosition next;
  next.among_events = page.looked_at == limit;
  next.event_id = rows.is_null(0, 0) ? from.event_id : rows.integer(0, 0);
  page.next = next;
  return page;
}

WatchedPage watch_orders(Connection& connection, const WatchPosition& from, int limit) {
  const bool from_start = from.closed_at.empty();
  const OrderId after = from_start ? std::numeric_limits<OrderId>::min() : from.order_id;
  const Params params{from_start ? "-infinity" : from.closed_at, std::to_string(after),
                      std::to_string(limit)};
  const Rows rows = connection.write(embedded_sql("queries/watch_closed_orders.sql"), params);
  WatchedPage page;
  page.looked_at = rows.integer(0, 2);
  page.touched = rows.integer(0, 3);
  if (page.looked_at < limit) return page;
  WatchPosition next;
  next.among_events = false;
  next.closed_at = rows.text(0, 0);
  next.order_id = rows.integer(0, 1);
  page.next = next;
  return page;
}

}  // namespace

Awaitable<std::vector<Notice>> PaymentStore::notices(int limit) {
  auto work = [limit](Connection& connection) { return read_notices(connection, limit); };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), work);
}

Awaitable<Done> PaymentStore::notices_told(std::vector<std::int64_t> ids) {
  auto work = [ids = array_text(ids)](Connection& connection) {
    connection.write(embedded_sql("queries/notices_told.sql"), {ids});
    return Done{};
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<WatchedPage> PaymentStore::watch(WatchPosition from, int limit) {
  auto work = [from = std::move(from), limit](Connection& connection) {
    return from.among_events ? watch_events(connection, from, limit)
                             : watch_orders(connection, from, limit);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<std::vector<CheckedOrder>> PaymentStore::orders_to_check(std::vector<OrderId> ids,
                                                                   std::vector<std::string> lines) {
  Params params{array_text(ids), array_text(lines)};
  auto work = [params = std::move(params)](Connection& connection) {
    return read_checked(connection, params);
  };
  return bulkhead_.run(Use::closing, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<std::string> PaymentStore::hold_for_payment(OrderId id, std::string reason) {
  Params params{std::to_string(id), one_line(reason, kReasonBytesMax)};
  auto work = [params = std::move(params)](Connection& connection) {
    return connection.write(embedded_sql("queries/hold_for_payment.sql"), params).text(0, 0);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<WatchPosition> PaymentStore::newest(std::int64_t events) {
  auto work = [events](Connection& connection) {
    const Rows rows = connection.read(embedded_sql("queries/newest_event.sql"));
    WatchPosition position;
    position.event_id = std::max<std::int64_t>(0, rows.integer(0, 0) - events);
    return position;
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), work);
}

}  // namespace order_timeout::postgres
