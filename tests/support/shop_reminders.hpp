// The sample shop's reminders in Redis: one ZADD an order, as a shop would have it. Best effort:
// the shop sells on without Redis, and tries it again at most once a second.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "order_timeout/time.hpp"

struct redisContext;

namespace order_timeout::shop {

class Reminders {
 public:
  // `url`: redis://HOST:PORT, unix:///PATH, or empty for a shop without Redis.
  Reminders(std::string url, std::string zset);

  void remind(const std::string& order_no, Instant deadline);

 private:
  struct Free {
    void operator()(redisContext* context) const;
  };

  bool connected();

  std::string url_, zset_;
  std::unique_ptr<redisContext, Free> context_;
  std::chrono::steady_clock::time_point next_try_{};
};

}  // namespace order_timeout::shop
