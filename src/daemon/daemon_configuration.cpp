// Daemon's part in its configuration: what is made for it, at the start and at a reload.
#include <utility>

#include "daemon/daemon.hpp"
#include "daemon/rules.hpp"
#include "daemon/sinks.hpp"
#include "daemon/snapshot.hpp"

namespace order_timeout::daemon {

void Daemon::say_start() {
  figures_.config_hash = config_hash(loaded_.parsed);
  figures_.from_snapshot = loaded_.from_snapshot();
  log_->info("daemon", "starting",
             {{"version", std::string(ORDER_TIMEOUT_VERSION)}, {"config", figures_.config_hash}});
  if (!loaded_.from_snapshot()) return;
  log_->error(
      "config", "the file cannot be used: the last configuration that worked is in force",
      {{"snapshot", config_.snapshot}, {"remedy", "mend the file, then order-timeoutctl reload"}});
  log_mistakes(*log_, loaded_.mistakes);
}

bool Daemon::make_parts() {
  Result<Done> made = prepare(config_);
  if (!made) {
    log_->error("config", "cannot work with it", {{"cause", made.error().detail}});
    return false;
  }
  sweeps_.emplace(context_, std::move(prepared_->schedule));
  deliveries_.take(std::move(prepared_->sinks));
  payment_check_.take(std::move(prepared_->gateway));
  return true;
}

Result<Done> Daemon::prepare(const Config& config) {
  prepared_.reset();
  Result<SweepSchedule> schedule =
      SweepSchedule::make(config.sweep.time_zone, config.sweep.nightly_minute_of_day);
  if (!schedule)
    return Failure{FailureKind::rejected, "sweep.nightly: " + schedule.error().detail, ""};
  Result<Deliveries::Sinks> sinks = deliveries_.make_sinks(config);
  if (!sinks) return sinks.error();
  auto gateway = payment_check_.make_gateway(config);
  if (!gateway) return gateway.error();
  prepared_.emplace(Prepared{std::move(*schedule), std::move(*sinks), std::move(*gateway)});
  return Done{};
}

// One step of the loop: nobody sees half of it.
void Daemon::adopt(ParsedConfig parsed) {
  const std::optional<RedisConfig> before = config_.redis;
  loaded_.parsed = std::move(parsed);
  loaded_.mistakes.clear();
  engine_.reconfigure(engine_options(config_));
  sweeps_->reschedule(std::move(prepared_->schedule));
  deliveries_.take(std::move(prepared_->sinks));
  payment_check_.take(std::move(prepared_->gateway));
  log_->reconfigure(log_options(config_));
  const std::optional<RedisConfig>& redis = config_.redis;
  const bool other_set = reminders_ && redis && before &&
                         (redis->zset != before->zset || redis->member != before->member ||
                          redis->score != before->score);
  if (other_set) {
    reminders_->set_key(redis->zset);
    orders_.set_reminder_member(redis->member);
    reminding_.begin_anew();
  }
  due_.ring();
  events_.ring();
}

void Daemon::rules_are_in_force(std::int64_t revision) {
  figures_.revision = revision;
  log_->info("config", "rules in force", {{"revision", revision}});
  if (loaded_.from_snapshot()) return;
  Result<Done> kept = write_snapshot(config_.snapshot, loaded_.parsed, revision);
  if (kept) return;
  log_->warn("config", "the snapshot was not written",
             {{"cause", kept.error().detail},
              {"consequence", "a start with a broken file has an older one, or none"}});
}

}  // namespace order_timeout::daemon
