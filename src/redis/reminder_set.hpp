// The shop's ZSET of reminders behind the port ReminderSet. Needs of Redis 2.6 and later, and of an
// ACL user: ZRANGEBYSCORE, ZSCAN, ZSCORE, ZREM, EVAL and TIME on the key, AUTH and SELECT.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "order_timeout/config.hpp"
#include "ports.hpp"
#include "redis/connection.hpp"

namespace order_timeout::redis {

// A URL that cannot be read makes every call fail with `rejected`; parse_url() tells beforehand. A
// member of more than kTextMax (512) bytes comes back as its first 512.
class ReminderSet final : public order_timeout::ReminderSet {
 public:
  ReminderSet(asio::any_io_executor executor, RedisConfig config, Connection::Options options = {});
  ReminderSet(const ReminderSet&) = delete;
  ReminderSet& operator=(const ReminderSet&) = delete;
  ~ReminderSet() override;

  // The sorted set that is asked from the next call on.
  void set_key(std::string key) { key_ = std::move(key); }

  // `limit` above 10,000 counts as that.
  Awaitable<ReminderPage> due(double from, double to, int skip, int limit) override;
  Awaitable<ReminderPage> scan(std::uint64_t cursor) override;
  Awaitable<std::map<std::string, double>> scores(std::vector<std::string> members) override;
  // 500 at a time, each time in one step of the server. Where a later time fails the earlier ones
  // have happened.
  Awaitable<std::int64_t> remove_unchanged(std::vector<Reminder> reminders) override;
  Awaitable<std::int64_t> server_time() override;

  // Every call ends at once, now and from here on. May be called twice; the destructor does it.
  void stop();

 private:
  std::string key_;
  std::shared_ptr<Connection> connection_;  // the coroutines under way hold it too
};

}  // namespace order_timeout::redis
