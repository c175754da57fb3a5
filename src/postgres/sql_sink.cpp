#include "postgres/sql_sink.hpp"

#include <string_view>
#include <utility>

#include "postgres/embedded_sql.hpp"

namespace order_timeout::postgres {
namespace {

constexpr int kStatements = 2;  // the configured one may take its time; ours are short

DeliveryOutcome lease_lost() {
  DeliveryOutcome outcome;
  outcome.kind = DeliveryKind::uncertain;
  outcome.recorded = true;
  outcome.detail = "the lease was lost: nothing was done";
  return outcome;
}

DeliveryOutcome perform(Connection& connection, const OutboxEvent& event,
                        const std::string& statement) {
  const Params claim{std::to_string(event.row_id), event.leased_by};
  Transaction transaction(connection);
  const Rows locked = transaction.query(embedded_sql("queries/lock_leased_event.sql"), claim);
  if (locked.size() == 0) return lease_lost();
  transaction.query(statement, {event.body});
  const Rows marked = transaction.query(embedded_sql("queries/mark_delivered.sql"), claim);
  if (marked.affected() != 1) return lease_lost();
  transaction.commit();
  DeliveryOutcome outcome;
  outcome.kind = DeliveryKind::done;
  outcome.recorded = true;
  return outcome;
}

DeliveryKind refused_kind(std::string_view sqlstate) {
  const auto is_class = [&](std::string_view prefix) { return sqlstate.starts_with(prefix); };
  // Values that it will never take.
  if (is_class("22") || is_class("23")) return DeliveryKind::rejected;
  // No such function, no right to it, no such statement: true of every event until somebody mends
  // it.
  if (is_class("42") || is_class("3F") || is_class("0A") || is_class("08P01")) {
    return DeliveryKind::unhealthy;
  }
  return DeliveryKind::retry;
}

}  // namespace

DeliveryOutcome delivery_outcome(const Failure& failure) {
  DeliveryOutcome outcome;
  outcome.detail = failure.detail;
  if (!failure.sqlstate.empty()) outcome.detail += " sqlstate=" + failure.sqlstate;
  switch (failure.kind) {
    case FailureKind::unknown:
      outcome.kind = DeliveryKind::uncertain;
      break;
    case FailureKind::rejected:
      outcome.kind = refused_kind(failure.sqlstate);
      outcome.attempt_spent = outcome.kind != DeliveryKind::unhealthy;
      break;
    case FailureKind::unavailable:
    case FailureKind::overloaded:
      outcome.attempt_spent = false;  // an outage alone makes no event dead
      break;
    case FailureKind::conflict:
    case FailureKind::timed_out:
      break;
  }
  return outcome;
}

SqlSink::SqlSink(Bulkhead& bulkhead, const DatabaseConfig& /*database*/, std::string statement)
    : bulkhead_(bulkhead), statement_(std::move(statement)) {}

asio::awaitable<DeliveryOutcome> SqlSink::deliver(OutboxEvent event) {
  auto work = [event = std::move(event), statement = statement_](Connection& connection) {
    return perform(connection, event, statement);
  };
  return outcome_of(bulkhead_.run(Use::sink, bulkhead_.deadline_for(kStatements), std::move(work)));
}

asio::awaitable<DeliveryOutcome> SqlSink::outcome_of(Awaitable<DeliveryOutcome> delivering) {
  auto delivered = co_await std::move(delivering);
  if (!delivered) co_return delivery_outcome(delivered.error());
  co_return std::move(*delivered);
}

}  // namespace order_timeout::postgres
