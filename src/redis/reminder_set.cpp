#include "redis/reminder_set.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "redis/reply.hpp"

namespace order_timeout::redis {
namespace {

constexpr std::size_t kBatchSize = 500;
constexpr int kPageMax = 10'000;

// Compares in the server, so that a score set meanwhile keeps its member. Numbers, because servers
// write the same double differently; text as well, because not every Lua reads "inf". Errors of the
// inner commands are returned as they are: older servers would wrap them and hide their code.
constexpr const char* kRemoveUnchanged = R"(
local removed = 0
for i = 1, #ARGV, 2 do
  local score = redis.pcall('ZSCORE', KEYS[1], ARGV[i])
  if type(score) == 'table' then return score end
  local given = ARGV[i + 1]
  if score and (score == given or (tonumber(score) and tonumber(score) == tonumber(given))) then
    local gone = redis.pcall('ZREM', KEYS[1], ARGV[i])
    if type(gone) == 'table' then return gone end
    removed = removed + gone
  end
end
return removed
)";

std::vector<Command> alone(Command command) {
  std::vector<Command> commands;
  commands.push_back(std::move(command));
  return commands;
}

Command removal(const std::string& key, std::span<const Reminder> reminders) {
  Command command = {"EVAL", kRemoveUnchanged, "1", key};
  for (const Reminder& reminder : reminders) {
    command.push_back(reminder.member);
    command.push_back(score_text(reminder.score));
  }
  return command;
}

std::vector<Command> score_queries(const std::string& key, std::span<const std::string> members) {
  std::vector<Command> commands;
  for (const std::string& member : members) commands.push_back({"ZSCORE", key, member});
  return commands;
}

template <class T>
std::span<const T> batch_from(const std::vector<T>& all, std::size_t start) {
  return std::span<const T>(all).subspan(start, std::min(kBatchSize, all.size() - start));
}

template <class T>
using Reading = Result<T> (*)(const Reply&);

template <class T>
Awaitable<T> ask(std::shared_ptr<Connection> connection, Command command, Reading<T> read) {
  auto commands = alone(std::move(command));
  const auto replies = co_await connection->run(std::move(commands));
  if (!replies) co_return replies.error();
  co_return read(replies->front());
}

Awaitable<std::map<std::string, double>> ask_scores(std::shared_ptr<Connection> connection,
                                                    std::string key,
                                                    std::vector<std::string> members) {
  std::map<std::string, double> scores;
  for (std::size_t start = 0; start < members.size(); start += kBatchSize) {
    const auto batch = batch_from(members, start);
    auto commands = score_queries(key, batch);
    const auto replies = co_await connection->run(std::move(commands));
    if (!replies) co_return replies.error();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto score = read_score(replies->at(i));
      if (!score) co_return score.error();
      if (score->has_value()) scores[batch[i]] = **score;
    }
  }
  co_return scores;
}

Awaitable<std::int64_t> remove_in_batches(std::shared_ptr<Connection> connection, std::string key,
                                          std::vector<Reminder> reminders) {
  std::int64_t removed = 0;
  for (std::size_t start = 0; start < reminders.size(); start += kBatchSize) {
    auto commands = alone(removal(key, batch_from(reminders, start)));
    const auto replies = co_await connection->run(std::move(commands));
    if (!replies) co_return replies.error();
    const auto count = read_count(replies->front());
    if (!count) co_return count.error();
    removed += *count;
  }
  co_return removed;
}

}  // namespace

ReminderSet::ReminderSet(asio::any_io_executor executor, RedisConfig config,
                         Connection::Options options)
    : key_(std::move(config.zset)),
      connection_(
          std::make_shared<Connection>(std::move(executor), parse_url(config.url), options)) {}

ReminderSet::~ReminderSet() { stop(); }

void ReminderSet::stop() { connection_->stop(); }

Awaitable<ReminderPage> ReminderSet::due(double from, double to, int skip, int limit) {
  const int offset = std::max(skip, 0);
  const int count = std::clamp(limit, 0, kPageMax);
  Command command = {"ZRANGEBYSCORE", key_,    score_text(from),       score_text(to),
                     "WITHSCORES",    "LIMIT", std::to_string(offset), std::to_string(count)};
  return ask<ReminderPage>(connection_, std::move(command), read_page);
}

Awaitable<ReminderPage> ReminderSet::scan(std::uint64_t cursor) {
  Command command = {"ZSCAN", key_, std::to_string(cursor), "COUNT", std::to_string(kBatchSize)};
  return ask<ReminderPage>(connection_, std::move(command), read_scan);
}

Awaitable<std::map<std::string, double>> ReminderSet::scores(std::vector<std::string> members) {
  return ask_scores(connection_, key_, std::move(members));
}

Awaitable<std::int64_t> ReminderSet::remove_unchanged(std::vector<Reminder> reminders) {
  return remove_in_batches(connection_, key_, std::move(reminders));
}

Awaitable<std::int64_t> ReminderSet::server_time() {
  Command command = {"TIME"};
  return ask<std::int64_t>(connection_, std::move(command), read_time_ms);
}

}  // namespace order_timeout::redis
