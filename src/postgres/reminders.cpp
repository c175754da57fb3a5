#include "postgres/reminders.hpp"

#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "postgres/array_text.hpp"
#include "postgres/embedded_sql.hpp"
#include "postgres/order_scans.hpp"

namespace order_timeout::postgres {
namespace {

constexpr std::size_t kOrderNumberBytesMax = 256;

// An id as PostgreSQL prints it; "007" and "+7" are none.
std::optional<OrderId> parse_id(const std::string& member) {
  OrderId id = 0;
  const char* end = member.data() + member.size();
  const auto parsed = std::from_chars(member.data(), end, id);
  if (parsed.ec != std::errc{} || parsed.ptr != end || std::to_string(id) != member) {
    return std::nullopt;
  }
  return id;
}

Rows orders_by_number(Connection& connection, const std::vector<std::string>& members) {
  std::vector<std::string> numbers;
  for (const std::string& member : members) {
    if (!member.empty() && storable(member, kOrderNumberBytesMax)) numbers.push_back(member);
  }
  const Params params{array_text(numbers)};
  return connection.read(embedded_sql("queries/resolve_order_nos.sql"), params);
}

Rows orders_by_id(Connection& connection, const std::vector<std::string>& members) {
  std::vector<std::int64_t> ids;
  for (const std::string& member : members) {
    if (const auto id = parse_id(member)) ids.push_back(*id);
  }
  const Params params{array_text(ids)};
  return connection.read(embedded_sql("queries/resolve_order_ids.sql"), params);
}

}  // namespace

std::vector<ResolvedReminder> resolve_members(Connection& connection,
                                              const std::vector<std::string>& members,
                                              ReminderMember kind) {
  const Rows rows = kind == ReminderMember::id ? orders_by_id(connection, members)
                                               : orders_by_number(connection, members);
  std::map<std::string, int> row_of;  // the first of a number: pending ones come first
  for (int row = 0; row < rows.size(); ++row) row_of.emplace(rows.text(row, 0), row);

  std::vector<ResolvedReminder> resolved;
  resolved.reserve(members.size());
  for (const std::string& member : members) {
    ResolvedReminder reminder;
    reminder.member = member;
    if (const auto at = row_of.find(member); at != row_of.end()) {
      reminder.found = true;
      reminder.pending = rows.flag(at->second, 1);
      reminder.order = tracked_order(rows, at->second, 2);
      if (!rows.flag(at->second, 5)) reminder.order.due = kNever;
    }
    resolved.push_back(std::move(reminder));
  }
  return resolved;
}

}  // namespace order_timeout::postgres
