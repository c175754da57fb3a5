#include "daemon/reminder_service.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "order_timeout/deadline_policy.hpp"
#include "order_timeout/reminder_member.hpp"

namespace order_timeout::daemon {
namespace {

using namespace std::chrono_literals;

constexpr int kPage = 500;
constexpr int kPagesAPoll =
    20;  // a poll looks at no more, so that millions of stale members are read bit by bit
constexpr auto kReadAgainAfter = 10min;
constexpr auto kClockInterval = 10s;

double score_now(Instant now, ScoreUnit unit) {
  const double ms = static_cast<double>(to_ms(now));
  return unit == ScoreUnit::milliseconds ? ms : ms / 1000.0;
}

}  // namespace

void ReminderService::look_from_the_start() {
  progress_.score = -std::numeric_limits<double>::infinity();
  progress_.read_at_score = 0;
  progress_.restart_at = std::chrono::steady_clock::now() + kReadAgainAfter;
}

void ReminderService::begin_anew() {
  c_.settled_reminders.clear();
  look_from_the_start();
  read_once_ = false;
}

boost::asio::awaitable<void> ReminderService::meet() {
  const bool there = co_await compare_clocks();
  if (there) c_.components.up(kRedis);
}

boost::asio::awaitable<void> ReminderService::watch_reminders() {
  while (!c_.stop.requested()) {
    const bool served = co_await take_turn();
    if (served) note_up();
    co_await c_.stop.sleep(c_.config.redis->poll_interval);
  }
}

// Everything that is asked of Redis: it is up when all of that was answered. A server that answers
// one command and refuses the next (a replica, a key of another type) is down, and stays so.
boost::asio::awaitable<bool> ReminderService::take_turn() {
  const bool clock_read = co_await compare_clocks();
  if (!clock_read) co_return false;
  if (!read_once_) read_once_ = co_await read_everything();
  if (!read_once_) co_return false;
  const bool polled = co_await poll();
  if (!polled) co_return false;
  const bool removed = co_await remove_settled();
  co_return removed;
}

// Back again, perhaps with other members than before: they are all read once more.
void ReminderService::note_up() {
  if (c_.components.is_up(kRedis)) return;
  c_.components.up(kRedis);
  if (c_.components.is_up(kRedis)) look_from_the_start();
}

// Every call to Redis ends here; one that failed says that it is down.
bool ReminderService::answered(const Failure* failure) {
  if (failure == nullptr) return true;
  c_.components.down(kRedis, *failure, "closing goes on from PostgreSQL alone");
  return false;
}

boost::asio::awaitable<bool> ReminderService::compare_clocks() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_clock_check_ && c_.components.is_up(kRedis)) co_return true;
  next_clock_check_ = now + kClockInterval;
  Result<std::int64_t> redis_ms = co_await c_.reminders->server_time();
  if (!answered(redis_ms ? nullptr : &redis_ms.error())) co_return false;
  const Duration skew = LoopClock::host() - instant_from_ms(*redis_ms);
  c_.metrics.set_clock_skew("redis", std::chrono::duration<double>(skew).count());
  if (skew > c_.config.clock_warn || -skew > c_.config.clock_warn) {
    c_.log.warn("clock", "this host and Redis differ",
                {{"skew_ms", skew.count()}, {"remedy", "synchronise both clocks (NTP)"}});
  }
  co_return true;
}

boost::asio::awaitable<bool> ReminderService::read_everything() {
  std::uint64_t cursor = 0;
  std::int64_t read = 0;
  do {
    Result<ReminderPage> page = co_await c_.reminders->scan(cursor);
    if (!answered(page ? nullptr : &page.error())) co_return false;
    c_.components.up(kRedis);  // the whole may take long, and extensions are heeded from now on
    cursor = page->cursor;
    read += static_cast<std::int64_t>(page->reminders.size());
    co_await take(std::move(page->reminders));
  } while (cursor != 0 && !c_.stop.requested());
  c_.log.info("redis", "set read", {{"members", read}, {"unknown", c_.figures.unknown_reminders}});
  co_return true;
}

boost::asio::awaitable<bool> ReminderService::poll() {
  if (std::chrono::steady_clock::now() >= progress_.restart_at) look_from_the_start();
  for (int page_number = 0; page_number < kPagesAPoll; ++page_number) {
    const double now = score_now(c_.clock.now(), c_.config.redis->score);
    Result<ReminderPage> page =
        co_await c_.reminders->due(progress_.score, now, progress_.read_at_score, kPage);
    if (!answered(page ? nullptr : &page.error())) co_return false;
    if (page->reminders.empty()) co_return true;
    const bool last = page->reminders.size() < static_cast<std::size_t>(kPage);
    advance_over(page->reminders);
    co_await take(std::move(page->reminders));
    if (last) co_return true;
  }
  co_return true;
}

void ReminderService::advance_over(const std::vector<Reminder>& page) {
  const double last = page.back().score;
  int at_last = 0;
  for (auto reminder = page.rbegin(); reminder != page.rend(); ++reminder) {
    if (reminder->score < last) break;
    ++at_last;
  }
  progress_.read_at_score = last > progress_.score ? at_last : progress_.read_at_score + at_last;
  progress_.score = last;
}

boost::asio::awaitable<void> ReminderService::take(std::vector<Reminder> reminders) {
  std::unordered_map<std::string, double> scores;
  std::vector<std::string> members;
  for (Reminder& reminder : reminders) {
    if (!could_name_an_order(reminder.member, c_.config.redis->member)) {
      c_.figures.unknown_reminders += 1;
      continue;
    }
    const auto [at, is_new] = scores.emplace(reminder.member, reminder.score);
    if (is_new) members.push_back(std::move(reminder.member));
  }
  while (!members.empty() && !c_.stop.requested()) {
    const std::size_t first = members.size() > kPage ? members.size() - kPage : 0;
    std::vector<std::string> some(members.begin() + static_cast<std::ptrdiff_t>(first),
                                  members.end());
    members.resize(first);
    Result<std::vector<ResolvedReminder>> resolved = co_await c_.orders.resolve(std::move(some));
    if (!resolved)
      co_return;  // discovery reports the database, and finds these orders without Redis
    for (const ResolvedReminder& one : *resolved) track(one, scores[one.member]);
  }
  c_.due.ring();
}

void ReminderService::track(const ResolvedReminder& resolved, double score) {
  if (!resolved.found) {
    c_.figures.unknown_reminders += 1;  // not committed yet, or garbage: PostgreSQL will tell
    return;
  }
  if (!resolved.pending) return settle(Reminder{resolved.member, score});
  TrackedOrder order = resolved.order;
  order.source = Source::redis;
  const auto reminder = instant_of_score(score, c_.config.redis->score);
  const Instant until = close_not_before(order.due, reminder, c_.config.redis->max_extension);
  if (until > order.due) c_.engine.delay(order.id, until);
  c_.engine.track(order);
}

void ReminderService::settle(Reminder reminder) {
  if (c_.settled_reminders.size() < kMostSettledReminders) {
    c_.settled_reminders.push_back(std::move(reminder));
  }
}

boost::asio::awaitable<bool> ReminderService::remove_settled() {
  while (!c_.settled_reminders.empty()) {
    std::vector<Reminder>& all = c_.settled_reminders;  // closers append to it meanwhile
    const auto count = static_cast<std::ptrdiff_t>(std::min<std::size_t>(all.size(), kPage));
    std::vector<Reminder> some(all.begin(), all.begin() + count);
    Result<std::int64_t> removed = co_await c_.reminders->remove_unchanged(std::move(some));
    if (!answered(removed ? nullptr : &removed.error())) co_return false;
    // The set may have become another one meanwhile.
    all.erase(all.begin(), all.begin() + std::min(count, std::ssize(all)));
  }
  co_return true;
}

}  // namespace order_timeout::daemon
