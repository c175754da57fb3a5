#include "daemon/reload_service.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "daemon/rules.hpp"
#include "daemon/snapshot.hpp"

namespace order_timeout::daemon {
namespace {

using namespace std::chrono_literals;

constexpr auto kIdle = 500ms;           // so that nothing depends on a bell that was not rung
constexpr std::size_t kMostLines = 20;  // of one reload in the log
constexpr int kTriesToCommit = 3;       // the same rules again: they keep their revision

ReloadAnswer ended(ReloadAnswer answer, ReloadEnd end, std::string message) {
  answer.end = end;
  answer.message = std::move(message);
  return answer;
}

std::string keys_that_need_a_restart(const std::vector<ConfigChange>& changes) {
  std::string keys;
  for (const ConfigChange& change : changes) {
    if (change.restart) keys += (keys.empty() ? "" : ", ") + change.key;
  }
  return keys;
}

bool changes_rules(const std::vector<ConfigChange>& changes) {
  return std::any_of(changes.begin(), changes.end(), [](const ConfigChange& change) {
    return change.key.starts_with("business_lines.") || change.key == "close.max_age";
  });
}

}  // namespace

std::string_view to_string(ReloadEnd end) {
  static constexpr std::array<std::string_view, 6> kWords{"ok",      "configuration", "database",
                                                          "restart", "guard",         "busy"};
  return kWords.at(static_cast<std::size_t>(end));
}

std::string_view result_of(ReloadEnd end) {
  if (end == ReloadEnd::ok) return "ok";
  const bool refused =
      end == ReloadEnd::restart || end == ReloadEnd::guard || end == ReloadEnd::busy;
  return refused ? "refused" : "error";
}

void ReloadService::request() {
  if (wanted_) coalesced_ += 1;
  wanted_ = true;
  wanted_bell_.ring();
}

boost::asio::awaitable<void> ReloadService::serve() {
  while (!c_.stop.requested()) {
    if (!wanted_) {
      co_await wanted_bell_.wait(kIdle);
      continue;
    }
    wanted_ = false;
    c_.log.reopen();
    c_.log.info("daemon", "log files reopened");
    const std::int64_t coalesced = std::exchange(coalesced_, 0);
    if (coalesced > 0) c_.log.info("config", "reload_coalesced", {{"signals", coalesced}});
    co_await reload(false);
  }
}

boost::asio::awaitable<ReloadAnswer> ReloadService::reload(bool confirmed) {
  ReloadAnswer answer;
  if (busy_ || c_.stop.requested() || c_.figures.revision == 0) {
    answer = ended(std::move(answer), ReloadEnd::busy,
                   busy_ ? "another reload is under way" : "the daemon is starting or stopping");
  } else {
    busy_ = true;
    answer = co_await attempt(confirmed);
    busy_ = false;
  }
  report(answer);
  co_return answer;
}

boost::asio::awaitable<ReloadAnswer> ReloadService::attempt(bool confirmed) {
  ReloadAnswer answer;
  answer.revision = c_.figures.revision;
  auto loaded = steps_.load();
  if (auto* mistakes = std::get_if<std::vector<ConfigError>>(&loaded)) {
    answer.mistakes = std::move(*mistakes);
    co_return ended(std::move(answer), ReloadEnd::configuration, "the configuration has errors");
  }
  ParsedConfig parsed = std::get<ParsedConfig>(std::move(loaded));
  answer.changes = config_changes(in_force_, parsed);
  const std::string keys = keys_that_need_a_restart(answer.changes);
  if (!keys.empty()) {
    co_return ended(std::move(answer), ReloadEnd::restart, "needs a restart: " + keys);
  }
  Result<Done> prepared = steps_.prepare(parsed.config);
  if (!prepared) {
    co_return ended(std::move(answer), ReloadEnd::configuration, prepared.error().detail);
  }
  Config config = parsed.config;
  answer = co_await put_in_force(std::move(config), std::move(answer), confirmed);
  if (answer.end != ReloadEnd::ok) co_return answer;

  steps_.adopt(std::move(parsed));
  c_.figures.revision = answer.revision;
  c_.figures.config_hash = config_hash(in_force_);
  c_.figures.from_snapshot = false;
  if (changes_rules(answer.changes)) c_.reread.request();
  keep_snapshot();
  co_return answer;
}

// The database's part: does it fit, what would happen, and then the rules as a whole.
boost::asio::awaitable<ReloadAnswer> ReloadService::put_in_force(Config config, ReloadAnswer answer,
                                                                 bool confirmed) {
  Result<MappingState> mapping = co_await c_.control.mapping_state();
  if (!mapping) co_return ended(std::move(answer), ReloadEnd::database, mapping.error().detail);
  if (!mapping->fits) co_return ended(std::move(answer), ReloadEnd::database, mapping->detail);

  RuleSet asked = rules_of(config);
  Result<DueByRules> due = co_await c_.control.due_by_rules(std::move(asked));
  if (!due) co_return ended(std::move(answer), ReloadEnd::database, due.error().detail);
  answer.due_at_once = due->total;
  answer.preview = preview_lines(*due, answer.changes);
  std::string message = too_many_due(*due, c_.config.max_due_by_reload);
  if (!message.empty() && !confirmed) {
    c_.metrics.guard_tripped("max_due_by_reload");
    message += "; order-timeoutctl reload --confirm does it";
    co_return ended(std::move(answer), ReloadEnd::guard, std::move(message));
  }

  for (int attempt = 1;; ++attempt) {
    RuleSet rules = rules_of(config);
    Result<std::int64_t> revision = co_await c_.control.apply_rules(std::move(rules));
    if (revision) {
      answer.revision = *revision;
      co_return ended(std::move(answer), ReloadEnd::ok, "in force");
    }
    const bool may_have_happened = revision.error().kind == FailureKind::unknown;
    if (may_have_happened && attempt < kTriesToCommit) continue;
    message = revision.error().detail;
    if (may_have_happened) message += "; the rules may be in force: reload again";
    co_return ended(std::move(answer), ReloadEnd::database, std::move(message));
  }
}

void ReloadService::keep_snapshot() {
  Result<Done> kept = write_snapshot(c_.config.snapshot, in_force_, c_.figures.revision);
  if (kept) return;
  c_.log.warn("config", "the snapshot was not written",
              {{"cause", kept.error().detail},
               {"consequence", "a start with a broken file has an older one, or none"}});
}

void ReloadService::report(const ReloadAnswer& answer) {
  const std::string result{result_of(answer.end)};
  c_.metrics.config_reload(result);
  c_.figures.last_reload = result + ": " + answer.message;
  telemetry::Fields fields{{"result", result}, {"revision", answer.revision}};
  if (answer.end != ReloadEnd::ok) fields.emplace_back("cause", answer.message);
  std::size_t number = 0;
  for (const ConfigChange& change : answer.changes) {
    if (++number > kMostLines) break;
    fields.emplace_back("change_" + std::to_string(number), to_string(change));
  }
  fields.emplace_back("changes", static_cast<std::int64_t>(answer.changes.size()));
  fields.emplace_back("due_at_once", answer.due_at_once);
  if (answer.end == ReloadEnd::ok) {
    c_.log.info("config", "reload_ok", std::move(fields));
  } else {
    c_.log.error("config", "reload_refused", std::move(fields));
  }
  log_mistakes(c_.log, answer.mistakes);
  for (std::size_t i = 0; i < std::min(answer.preview.size(), kMostLines); ++i) {
    c_.log.info("config", "preview", {{"effect", answer.preview[i]}});
  }
}

}  // namespace order_timeout::daemon
