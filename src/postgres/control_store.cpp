#include "postgres/control_store.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "postgres/array_text.hpp"
#include "postgres/embedded_sql.hpp"
#include "postgres/found_shop.hpp"
#include "postgres/json_text.hpp"
#include "postgres/statements.hpp"

namespace order_timeout::postgres {
namespace {

std::string action_text(LineAction action) {
  switch (action) {
    case LineAction::close:
      return "close";
    case LineAction::review:
      return "review";
    case LineAction::shadow:
      return "shadow";
    case LineAction::ignore:
      break;
  }
  return "ignore";
}

std::string kind_text(SweepKind kind) {
  switch (kind) {
    case SweepKind::nightly:
      return "NIGHTLY";
    case SweepKind::catch_up:
      return "CATCH_UP";
    case SweepKind::startup:
      break;
  }
  return "STARTUP";
}

std::string line_text(const BusinessLine& line) {
  std::vector<std::string> types;
  for (const std::string& event : line.on_close) types.push_back(event_type_of(event));
  return json_object({{"timeout_ms", std::to_string(line.timeout.count())},
                      {"grace_ms", std::to_string(line.grace.count())},
                      {"action", json_string(action_text(line.action))},
                      {"on_close", json_array(types)}});
}

MappingState read_mapping_state(Connection& connection, const std::string& mapping) {
  const Rows rows = connection.read(embedded_sql("queries/mapping_state.sql"), {mapping});
  return MappingState{rows.flag(0, 0), rows.text(0, 1)};
}

Result<MappingState> mapping_state_or_absent(Connection& connection, const std::string& mapping) {
  static constexpr std::string_view kAbsent[] = {"3F000", "42P01", "42883"};
  try {
    return read_mapping_state(connection, mapping);
  } catch (const std::exception& error) {
    const Failure failure = classify(error);
    if (std::ranges::find(kAbsent, failure.sqlstate) == std::end(kAbsent)) return failure;
    return MappingState{false, "the database has not been prepared; run order-timeoutctl migrate"};
  }
}

Done write_sweep_end(Connection& connection, const SweepReport& report) {
  const Params params{std::to_string(report.run_id),
                      report.status,
                      std::to_string(report.scanned),
                      std::to_string(report.closed),
                      std::to_string(report.skipped),
                      std::to_string(report.failed),
                      report.detail_json};
  connection.write(embedded_sql("queries/finish_sweep.sql"), params);
  return Done{};
}

OrderOverview count_orders(Connection& connection) {
  const Rows rows = connection.read(embedded_sql("queries/order_overview.sql"));
  OrderOverview overview;
  overview.pending = rows.integer(0, 0);
  overview.held = rows.integer(0, 1);
  overview.quarantined = rows.integer(0, 2);
  overview.too_old = rows.integer(0, 3);
  overview.overdue = rows.integer(0, 4);
  overview.oldest_overdue_seconds = rows.real(0, 5);
  overview.not_listed = rows.integer(0, 6);
  return overview;
}

std::vector<ManualClose> read_manual_closes(Connection& connection) {
  const Rows rows = connection.read(embedded_sql("queries/manual_closes.sql"));
  std::vector<ManualClose> closes;
  for (int row = 0; row < rows.size(); ++row) {
    ManualClose close;
    close.run_id = rows.integer(row, 0);
    close.order_id = rows.integer(row, 1);
    close.order_no = rows.text(row, 2);
    close.business_line = rows.text(row, 3);
    close.by = rows.text(row, 4);
    close.reason = rows.text(row, 5);
    close.host = rows.text(row, 6);
    close.at = rows.instant(row, 7).value_or(Instant{});
    closes.push_back(std::move(close));
  }
  return closes;
}

// The same rules as in force need no count, however many orders there are.
bool are_in_force(Connection& connection, const std::string& rules) {
  return connection.read(embedded_sql("queries/rules_same.sql"), {rules}).flag(0, 0);
}

DueByRules count_due_by_rules(Connection& connection, const std::string& rules) {
  const Rows rows = connection.read(embedded_sql("queries/due_by_rules.sql"), {rules});
  DueByRules due;
  for (int row = 0; row < rows.size(); ++row) {
    due.orders[rows.text(row, 0)] = rows.integer(row, 1);
    due.total += rows.integer(row, 1);
  }
  return due;
}

Result<DueByRules> due_by_rules_or_uncounted(Connection& connection, const std::string& rules) {
  static constexpr std::string_view kStatementTimeout = "57014";
  DueByRules none;
  if (are_in_force(connection, rules)) return none;
  try {
    return count_due_by_rules(connection, rules);
  } catch (const std::exception& error) {
    const Failure failure = classify(error);
    if (failure.sqlstate != kStatementTimeout) return failure;
    none.counted = false;
    return none;
  }
}

std::map<std::string, std::int64_t> read_unlisted_lines(Connection& connection) {
  const Rows rows = connection.read(embedded_sql("queries/unlisted_lines.sql"));
  std::map<std::string, std::int64_t> lines;
  for (int row = 0; row < rows.size(); ++row) lines[rows.text(row, 0)] = rows.integer(row, 1);
  return lines;
}

std::vector<Pause> read_pauses(Connection& connection) {
  const Rows rows = connection.read(embedded_sql("queries/pauses.sql"));
  std::vector<Pause> pauses;
  for (int row = 0; row < rows.size(); ++row) {
    pauses.push_back(
        {rows.text(row, 0), rows.text(row, 1), rows.text(row, 2), rows.instant(row, 3)});
  }
  return pauses;
}

Done write_pause(Connection& connection, const Pause& pause) {
  connection.write(embedded_sql("queries/pause_by_guard.sql"),
                   {pause.scope, pause.by, pause.reason});
  return Done{};
}

}  // namespace

std::string rules_text(const RuleSet& rules) {
  JsonFields lines;
  for (const auto& [name, line] : rules.lines) lines.emplace_back(name, line_text(line));
  return json_object({{"max_age_ms", std::to_string(rules.max_age.count())},
                      {"payment_max_delay_ms", std::to_string(rules.payment_max_delay.count())},
                      {"lines", json_object(lines)}});
}

ControlStore::ControlStore(Bulkhead& bulkhead, const Config& config)
    : bulkhead_(bulkhead),
      order_table_(config.order_table),
      mapping_(mapping_text(config.order_table)) {}

Awaitable<MappingState> ControlStore::mapping_state() {
  auto work = [mapping = mapping_](Connection& connection) {
    return mapping_state_or_absent(connection, mapping);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<std::vector<std::string>> ControlStore::mapping_problems() {
  auto work = [mapping = order_table_](Connection& connection) {
    return order_timeout::postgres::mapping_problems(mapping, find_shop(connection, mapping));
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(3), std::move(work));
}

Awaitable<std::int64_t> ControlStore::rules_revision() {
  auto work = [](Connection& connection) {
    return connection.read(embedded_sql("queries/rules_revision.sql")).integer(0, 0);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), work);
}

Awaitable<std::int64_t> ControlStore::apply_rules(RuleSet rules) {
  auto work = [text = rules_text(rules)](Connection& connection) {
    return connection.write(embedded_sql("queries/apply_rules.sql"), {text}).integer(0, 0);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<DueByRules> ControlStore::due_by_rules(RuleSet rules) {
  auto work = [text = rules_text(rules)](Connection& connection) {
    return due_by_rules_or_uncounted(connection, text);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(2), std::move(work));
}

Awaitable<std::vector<Pause>> ControlStore::pauses() {
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), &read_pauses);
}

Awaitable<Done> ControlStore::pause(Pause pause) {
  auto work = [pause = std::move(pause)](Connection& connection) {
    return write_pause(connection, pause);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<std::map<std::string, std::int64_t>> ControlStore::unlisted_lines() {
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), &read_unlisted_lines);
}

Awaitable<ClockSample> ControlStore::sample_clock() {
  auto work = [](Connection& connection) {
    const Rows rows = connection.read(embedded_sql("queries/sample_clock.sql"));
    return ClockSample{instant_from_ms(rows.integer(0, 0))};
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), work);
}

Awaitable<std::int64_t> ControlStore::begin_sweep(SweepKind kind) {
  auto work = [kind = kind_text(kind)](Connection& connection) {
    return connection.write(embedded_sql("queries/begin_sweep.sql"), {kind}).integer(0, 0);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<Done> ControlStore::finish_sweep(SweepReport report) {
  auto work = [report = std::move(report)](Connection& connection) {
    return write_sweep_end(connection, report);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

Awaitable<std::optional<Instant>> ControlStore::last_nightly() {
  auto work = [](Connection& connection) {
    return connection.read(embedded_sql("queries/last_nightly.sql")).instant(0, 0);
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), work);
}

Awaitable<OrderOverview> ControlStore::overview() {
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), &count_orders);
}

Awaitable<std::vector<ManualClose>> ControlStore::manual_closes() {
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), &read_manual_closes);
}

Awaitable<Done> ControlStore::manual_closes_audited(std::vector<std::int64_t> run_ids) {
  auto work = [ids = array_text(run_ids)](Connection& connection) {
    connection.write(embedded_sql("queries/manual_closes_audited.sql"), {ids});
    return Done{};
  };
  return bulkhead_.run(Use::discovery, bulkhead_.deadline_for(1), std::move(work));
}

}  // namespace order_timeout::postgres
