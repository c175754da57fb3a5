// check: everything that can be found out before it hurts. Reads only.
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <exception>
#include <iostream>

#include "ctl/invocation.hpp"
#include "ctl/session.hpp"
#include "daemon/exit_code.hpp"
#include "daemon/loop_clock.hpp"
#include "postgres/found_shop.hpp"
#include "postgres/statements.hpp"
#include "redis/reminder_set.hpp"

namespace order_timeout::ctl {
namespace {

struct Finding {
  std::string level;  // ok | warn | fail
  std::string topic;
  std::string text;
};
using Findings = std::vector<Finding>;

void add(Findings& findings, bool fits, const std::string& otherwise, const std::string& topic,
         const std::string& text) {
  findings.push_back({fits ? "ok" : otherwise, topic, text});
}

void check_mapping(Session& session, const Config& config, Findings& findings) {
  const std::string mapping = postgres::mapping_text(config.order_table);
  Result<postgres::Rows> state = session.read("mapping_state", {mapping});
  if (!state) {
    findings.push_back({"fail", "schema", state.error().detail + "; run order-timeoutctl migrate"});
    return;
  }
  const bool fits = state->size() > 0 && state->flag(0, 0);
  add(findings, fits, "fail", "schema",
      fits ? "made for this order_table" : state->text(0, 1) + "; run order-timeoutctl migrate");
}

// Column by column, whatever the database's objects were made for.
void check_columns(Session& session, const Config& config, Findings& findings) {
  const OrderTableConfig& shop = config.order_table;
  postgres::FoundShop found;
  const std::pair<const std::string*, postgres::FoundTable*> tables[] = {
      {&shop.name, &found.orders},
      {&shop.items.table, &found.items},
      {&shop.payments.table, &found.payments}};
  for (const auto& [name, table] : tables) {
    if (name->empty()) continue;
    Result<postgres::Rows> rows = session.read("relation_columns", {postgres::quote_table(*name)});
    if (!rows) return findings.push_back({"fail", "columns", rows.error().detail});
    *table = postgres::found_table(*rows);
  }
  const std::vector<std::string> problems = postgres::mapping_problems(shop, found);
  for (const std::string& problem : problems) findings.push_back({"fail", "columns", problem});
  if (problems.empty()) findings.push_back({"ok", "columns", "are what order_table says"});
}

void check_database(Session& session, const Config& config, Findings& findings) {
  const OrderTableConfig& shop = config.order_table;
  const bool pays = !shop.payments.table.empty();
  const postgres::Params params{postgres::quote_table(shop.name),
                                shop.columns.created_at,
                                shop.columns.order_no,
                                pays ? postgres::quote_table(shop.payments.table) : "",
                                shop.payments.order_id,
                                shop.columns.deadline};
  Result<postgres::Rows> rows = session.read("check_database", params);
  if (!rows) {
    findings.push_back({"fail", "database", rows.error().detail});
    return;
  }
  for (int row = 0; row < rows->size(); ++row) {
    findings.push_back({rows->text(row, 0), rows->text(row, 1), rows->text(row, 2)});
  }
}

void check_clock(Session& session, const Config& config, Findings& findings) {
  const Instant asked = daemon::LoopClock::host();
  Result<postgres::Rows> rows = session.read("sample_clock");
  const Instant answered = daemon::LoopClock::host();
  if (!rows) return findings.push_back({"fail", "clock", rows.error().detail});
  const Instant database = instant_from_ms(rows->integer(0, 0));
  const Duration skew = database < asked      ? asked - database
                        : database > answered ? database - answered
                                              : Duration{0};
  add(findings, skew <= config.clock_warn, "warn", "clock",
      "this host and PostgreSQL differ by " + std::to_string(skew.count()) +
          " ms (the database's clock decides)");
}

struct RedisClock {
  Result<std::int64_t> redis_ms = Failure{FailureKind::unavailable, "no answer", ""};
  Instant answered{};
};

boost::asio::awaitable<void> ask_redis(ReminderSet& reminders, RedisClock& clock) {
  clock.redis_ms = co_await reminders.server_time();
  clock.answered = daemon::LoopClock::host();
}

void check_redis(const Config& config, Findings& findings) {
  if (!config.redis)
    return findings.push_back({"ok", "redis", "not configured: PostgreSQL alone feeds the wheel"});
  boost::asio::io_context loop;
  redis::ReminderSet reminders(loop.get_executor(), *config.redis);
  RedisClock clock;
  boost::asio::co_spawn(loop, ask_redis(reminders, clock),
                        [&loop](const std::exception_ptr&) { loop.stop(); });
  loop.run_for(std::chrono::seconds(5));
  if (!clock.redis_ms) {
    findings.push_back({"warn", "redis",
                        clock.redis_ms.error().detail + "; closing goes on from PostgreSQL alone"});
    return;
  }
  const Duration difference = clock.answered - instant_from_ms(*clock.redis_ms);
  const Duration skew = difference < Duration{0} ? -difference : difference;
  add(findings, skew <= config.clock_warn + Duration{5}, "warn", "redis",
      "answers; this host and Redis differ by " + std::to_string(skew.count()) + " ms");
}

int print(const Invocation& invocation, const Findings& findings) {
  const auto failed = [](const Finding& finding) { return finding.level == "fail"; };
  const auto problems = std::count_if(findings.begin(), findings.end(), failed);
  if (invocation.json) {
    boost::json::array list;
    for (const Finding& finding : findings) {
      list.push_back(boost::json::object{
          {"level", finding.level}, {"topic", finding.topic}, {"text", finding.text}});
    }
    const boost::json::object document{{"findings", std::move(list)}, {"problems", problems}};
    std::cout << boost::json::serialize(document) << '\n';
  } else {
    for (const Finding& finding : findings) {
      std::cout << finding.level << std::string(6 - finding.level.size(), ' ') << finding.topic
                << ": " << finding.text << '\n';
    }
  }
  return problems > 0 ? kProblemsFound : kSuccess;
}

}  // namespace

int check(const Invocation& invocation) {
  Findings findings{{"ok", "configuration", "valid"}};
  Result<Session> session = Session::open(invocation);
  if (!session) {
    findings.push_back({"fail", "database", session.error().detail});
    print(invocation, findings);
    return report(session.error());
  }
  check_mapping(*session, invocation.config, findings);
  check_columns(*session, invocation.config, findings);
  check_database(*session, invocation.config, findings);
  check_clock(*session, invocation.config, findings);
  check_redis(invocation.config, findings);
  return print(invocation, findings);
}

}  // namespace order_timeout::ctl
