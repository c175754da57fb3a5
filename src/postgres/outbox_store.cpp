#include "postgres/outbox_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <utility>

#include "postgres/array_text.hpp"
#include "postgres/embedded_sql.hpp"
#include "postgres/failure.hpp"

namespace order_timeout::postgres {
namespace {

constexpr std::size_t kErrorBytesMax = 500;

// A process id alone comes again, in containers at every start.
std::string new_instance() {
  std::random_device random;
  char text[40];
  std::snprintf(text, sizeof text, "%d-%08x%08x", static_cast<int>(::getpid()), random(), random());
  return text;
}

std::string status_text(EventStatus status) {
  switch (status) {
    case EventStatus::pending:
      return "PENDING";
    case EventStatus::uncertain:
      return "UNCERTAIN";
    case EventStatus::success:
      return "SUCCESS";
    case EventStatus::dead:
      break;
  }
  return "DEAD";
}

std::vector<OutboxEvent> claim_events(Connection& connection, const std::string& event_type,
                                      int limit, const std::string& claim) {
  const Params params{event_type, std::to_string(limit), claim};
  const Rows rows = connection.write(embedded_sql("queries/claim_events.sql"), params);
  std::vector<OutboxEvent> events;
  for (int row = 0; row < rows.size(); ++row) {
    OutboxEvent event;
    event.row_id = rows.integer(row, 0);
    event.event_key = rows.text(row, 1);
    event.order_id = rows.integer(row, 2);
    event.order_no = rows.text(row, 3);
    event.event_type = event_type;
    event.body = rows.text(row, 4);
    event.leased_by = claim;
    event.closed_at = instant_from_ms(rows.integer(row, 5));
    event.due = instant_from_ms(rows.integer(row, 6));
    event.attempt = static_cast<int>(rows.integer(row, 7));
    event.uncertain = rows.flag(row, 8);
    events.push_back(std::move(event));
  }
  return events;
}

std::int64_t finish_attempts(Connection& connection, const std::vector<FinishedAttempt>& attempts) {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> waits;
  std::vector<std::string> claims;
  std::vector<std::string> statuses;
  std::vector<std::string> spent;
  std::vector<std::string> errors;
  for (const FinishedAttempt& attempt : attempts) {
    ids.push_back(attempt.row_id);
    waits.push_back(attempt.wait.count());
    claims.push_back(attempt.leased_by);
    statuses.push_back(status_text(attempt.status));
    spent.emplace_back(attempt.attempt_spent ? "true" : "false");
    errors.push_back(one_line(attempt.last_error, kErrorBytesMax));
  }
  const Params params{array_text(ids),   array_text(claims), array_text(statuses),
                      array_text(waits), array_text(spent),  array_text(errors)};
  return connection.write(embedded_sql("queries/finish_events.sql"), params).affected();
}

OutboxOverview count_events(Connection& connection) {
  const Rows rows = connection.read(embedded_sql("queries/count_events.sql"));
  OutboxOverview overview;
  for (int row = 0; row < rows.size(); ++row) {
    overview.counts.push_back(
        EventCount{rows.text(row, 0), rows.text(row, 1), rows.integer(row, 2)});
    overview.oldest_claimable_seconds =
        std::max(overview.oldest_claimable_seconds, rows.real(row, 3));
  }
  return overview;
}

}  // namespace

OutboxStore::OutboxStore(Bulkhead& bulkhead) : bulkhead_(bulkhead), instance_(new_instance()) {}

Awaitable<std::vector<OutboxEvent>> OutboxStore::claim(std::string event_type, int limit) {
  auto work = [event_type = std::move(event_type), limit,
               claim = instance_ + ":" + std::to_string(++claims_)](Connection& connection) {
    return claim_events(connection, event_type, limit, claim);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<std::int64_t> OutboxStore::finish(std::vector<FinishedAttempt> attempts) {
  auto work = [attempts = std::move(attempts)](Connection& connection) {
    return finish_attempts(connection, attempts);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<OutboxOverview> OutboxStore::overview() {
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), &count_events);
}

Awaitable<std::int64_t> OutboxStore::retire(Duration age, int limit) {
  auto work = [age, limit](Connection& connection) {
    const Params params{std::to_string(age.count()), std::to_string(limit)};
    const Rows rows = connection.write(embedded_sql("queries/retire_events.sql"), params);
    return rows.integer(0, 0);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

}  // namespace order_timeout::postgres
