#include "daemon/components.hpp"

namespace order_timeout::daemon {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kReminderInterval = std::chrono::seconds(60);
constexpr auto kLately = std::chrono::milliseconds(1'500);
constexpr auto kInFlight = std::chrono::seconds(1);
constexpr auto kReadOnly = "25006";  // SQLSTATE: read_only_sql_transaction

std::int64_t ms_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

bool got_no_answer(const Failure& failure) {
  return failure.kind == FailureKind::timed_out || failure.kind == FailureKind::unknown ||
         failure.kind == FailureKind::overloaded;
}

}  // namespace

void Components::up(const std::string& name) {
  const auto [found, is_new] = states_.try_emplace(name);
  State& state = found->second;
  const bool answered_before = state.answered != Clock::time_point{};
  state.answered = Clock::now();
  if (state.up) return;
  if (answered_before && Clock::now() - state.since < kInFlight) return;
  if (is_new) {
    log_.info(name, "up");
  } else {
    log_.info(name, "up again", {{"down_ms", ms_since(state.since)}});
  }
  state.up = true;
  state.since = Clock::now();
  metrics_.set_component(name, true);
}

void Components::reads(const std::string& name) {
  const auto found = states_.find(name);
  const bool proves_nothing =
      found != states_.end() && !found->second.up && found->second.refuses_writes;
  if (!proves_nothing) up(name);
}

void Components::down(const std::string& name, const Failure& failure,
                      const std::string& consequence) {
  const auto [found, is_new] = states_.try_emplace(name);
  State& state = found->second;
  telemetry::Fields fields{{"kind", std::string(to_string(failure.kind))},
                           {"cause", failure.detail},
                           {"consequence", consequence}};
  if (state.up && got_no_answer(failure) && Clock::now() - state.answered < kLately) {
    log_.warn(name, "a call got no answer while others do", std::move(fields));
    return;
  }
  const bool changed = is_new || state.up;
  state.refuses_writes = failure.sqlstate == kReadOnly;
  if (!changed && Clock::now() - state.last_line < kReminderInterval) return;
  if (changed) state.since = Clock::now();
  state.up = false;
  state.last_line = Clock::now();
  if (changed) {
    log_.change(name, "down", std::move(fields));
  } else {
    fields.emplace_back("down_ms", ms_since(state.since));
    log_.warn(name, "still down", std::move(fields));
  }
  metrics_.set_component(name, false);
}

bool Components::is_up(const std::string& name) const {
  const auto found = states_.find(name);
  return found != states_.end() && found->second.up;
}

std::map<std::string, bool> Components::states() const {
  std::map<std::string, bool> up;
  for (const auto& [name, state] : states_) up.emplace(name, state.up);
  return up;
}

}  // namespace order_timeout::daemon
