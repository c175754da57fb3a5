#include "postgres/order_store.hpp"

#include <algorithm>
#include <utility>

#include "postgres/array_text.hpp"
#include "postgres/embedded_sql.hpp"
#include "postgres/failure.hpp"
#include "postgres/reminders.hpp"

namespace order_timeout::postgres {
namespace {

constexpr int kTasksMax = 10'000;
constexpr std::size_t kResolveMax = 1'000;
constexpr std::size_t kErrorBytesMax = 1'000;

CloseResult close_result(const Rows& rows, int row) {
  CloseResult result;
  result.id = rows.integer(row, 0);
  const std::string word = rows.text(row, 1);
  const auto outcome = parse_close_outcome(word);
  result.outcome = outcome.value_or(CloseOutcome::failed);
  result.version = static_cast<Version>(rows.integer(row, 2));
  result.order_no = rows.text(row, 3);
  result.business_line = rows.text(row, 4);
  result.due = rows.instant(row, 5);
  result.retry_at = rows.instant(row, 6);
  result.detail = outcome ? rows.text(row, 7) : "close_orders answered " + word;
  return result;
}

std::vector<CloseResult> close_orders(Connection& connection, const DueBatch& batch) {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> versions;
  for (const TrackedOrder& order : batch.orders) {
    ids.push_back(order.id);
    versions.push_back(order.version);
  }
  const Params params{array_text(ids), array_text(versions)};
  const Rows rows = connection.write(embedded_sql("queries/close_due.sql"), params);
  std::vector<CloseResult> results;
  for (int row = 0; row < rows.size(); ++row) results.push_back(close_result(rows, row));
  return results;
}

Instant set_aside(Connection& connection, OrderId id, const Failure& failure) {
  const Params params{std::to_string(id), one_line(failure.sqlstate, 5),
                      one_line(failure.detail, kErrorBytesMax)};
  const Rows rows = connection.write(embedded_sql("queries/quarantine_order.sql"), params);
  return instant_from_ms(rows.integer(0, 0));
}

std::map<OrderId, NamedOrder> read_names(Connection& connection, const std::vector<OrderId>& ids,
                                         ReminderMember kind) {
  const Params params{array_text(ids)};
  const Rows rows = connection.read(embedded_sql("queries/order_names.sql"), params);
  std::map<OrderId, NamedOrder> names;
  for (int row = 0; row < rows.size(); ++row) {
    NamedOrder name;
    name.member = rows.text(row, kind == ReminderMember::id ? 0 : 1);
    name.due = rows.instant(row, 2).value_or(kNever);
    names.emplace(rows.integer(row, 0), std::move(name));
  }
  return names;
}

Done mark_tasks_done(Connection& connection, const std::vector<std::string>& order_nos,
                     const std::vector<std::int64_t>& last_ids) {
  const Params params{array_text(order_nos), array_text(last_ids)};
  connection.write(embedded_sql("queries/finish_timeout_tasks.sql"), params);
  connection.write(embedded_sql("queries/remove_done_timeout_tasks.sql"));
  return Done{};
}

}  // namespace

OrderStore::OrderStore(Bulkhead& bulkhead, const Config& config)
    : bulkhead_(bulkhead),
      member_(config.redis ? config.redis->member : ReminderMember::order_no),
      enough_reading_(config.database.statement_timeout / 2) {}

Awaitable<Discovered> OrderStore::discover(Instant watermark) {
  DiscoveryRequest request;
  request.watermark = watermark;
  request.enough = enough_reading_;
  if (rest_ && rest_->watermark == watermark) request.from = rest_;
  auto work = [request](Connection& connection) { return discover_orders(connection, request); };
  return keep_rest(bulkhead_.run(Use::discovery, bulkhead_.deadline_for(2), std::move(work)));
}

Awaitable<Discovered> OrderStore::keep_rest(Awaitable<Discovery> reading) {
  auto read = co_await std::move(reading);
  if (!read) co_return read.error();
  rest_ = read->rest;
  co_return std::move(read->found);
}

Awaitable<ScanPage> OrderStore::scan(ScanRequest request) {
  auto work = [request = std::move(request)](Connection& connection) {
    return scan_orders(connection, request);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<std::vector<ResolvedReminder>> OrderStore::resolve(std::vector<std::string> members) {
  auto work = [members = std::move(members), kind = member_](Connection& connection) {
    return resolve_members(connection, members, kind);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<std::map<OrderId, NamedOrder>> OrderStore::names_of(std::vector<OrderId> ids) {
  auto work = [ids = std::move(ids), kind = member_](Connection& connection) {
    return read_names(connection, ids, kind);
  };
  return bulkhead_.run(Use::closing, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<std::vector<TimeoutTask>> OrderStore::timeout_tasks() {
  auto work = [after = tasks_after_](Connection& connection) {
    return read_timeout_tasks(connection, after);
  };
  return keep_last_ids(bulkhead_.run(Use::discovery, bulkhead_.deadline_for(2), std::move(work)));
}

Awaitable<std::vector<TimeoutTask>> OrderStore::keep_last_ids(Awaitable<TasksRead> reading) {
  auto read = co_await std::move(reading);
  if (!read) co_return read.error();
  last_ids_ = std::move(read->last_ids);
  tasks_after_ = read->after;
  co_return std::move(read->tasks);
}

OrderStore::TasksRead OrderStore::read_timeout_tasks(Connection& connection, std::int64_t after) {
  const Params page{std::to_string(after), std::to_string(kTasksMax)};
  const Rows rows = connection.read(embedded_sql("queries/pending_timeout_tasks.sql"), page);
  TasksRead read;
  std::map<std::string, TimeoutTask> by_order_no;
  for (int row = 0; row < rows.size(); ++row) {
    TimeoutTask task;
    task.order_no = rows.text(row, 1);
    task.due_at = instant_from_ms(rows.integer(row, 2));
    task.stale = rows.flag(row, 3);
    read.last_ids[task.order_no] = rows.integer(row, 0);
    by_order_no.insert_or_assign(task.order_no, task);
  }
  if (rows.size() == kTasksMax) read.after = rows.integer(rows.size() - 1, 0);
  std::vector<std::string> some;
  const auto resolve_some = [&] {
    for (auto& named : resolve_members(connection, some, ReminderMember::order_no)) {
      TimeoutTask task = by_order_no.at(named.member);
      task.found = named.found;
      task.pending = named.pending;
      task.order = named.order;
      read.tasks.push_back(std::move(task));
    }
    some.clear();
  };
  for (const auto& [order_no, id] : read.last_ids) {
    some.push_back(order_no);
    if (some.size() == kResolveMax) resolve_some();
  }
  if (!some.empty()) resolve_some();
  return read;
}

Awaitable<Done> OrderStore::finish_timeout_tasks(std::vector<std::string> order_nos) {
  // Only what was read: a reminder written since then says something new.
  std::erase_if(order_nos, [this](const std::string& no) { return !last_ids_.contains(no); });
  std::vector<std::int64_t> last_ids;
  for (const std::string& order_no : order_nos) last_ids.push_back(last_ids_.at(order_no));
  auto work = [order_nos = std::move(order_nos),
               last_ids = std::move(last_ids)](Connection& connection) {
    return mark_tasks_done(connection, order_nos, last_ids);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<std::vector<CloseResult>> OrderStore::close_due(DueBatch batch) {
  auto work = [batch = std::move(batch)](Connection& connection) {
    return close_orders(connection, batch);
  };
  return bulkhead_.run(Use::closing, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<Instant> OrderStore::quarantine(OrderId id, Failure failure) {
  auto work = [id, failure = std::move(failure)](Connection& connection) {
    return set_aside(connection, id, failure);
  };
  return bulkhead_.run(Use::closing, bulkhead_.deadline_for(1), std::move(work));
}

}  // namespace order_timeout::postgres
