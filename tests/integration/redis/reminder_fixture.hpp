// A private Redis, a ReminderSet on it and a loop that the test itself runs.
#pragma once

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <string>
#include <utility>

#include "redis/reminder_set.hpp"
#include "support/loop.hpp"
#include "support/redis_server.hpp"

namespace order_timeout::redis {

inline constexpr auto kKey = "delay:close:order";

inline RedisConfig config_for(std::string url) {
  RedisConfig config;
  config.url = std::move(url);
  config.zset = kKey;
  return config;
}

// Deadlines short enough to wait for in a test.
inline Connection::Options hasty() {
  Connection::Options options;
  options.connect_timeout = Duration{300};
  options.command_timeout = Duration{300};
  options.reconnect.first = Duration{50};
  options.reconnect.cap = Duration{200};
  return options;
}

// The same, but a second passes before a lost server is tried again.
inline Connection::Options patient() {
  Connection::Options options = hasty();
  options.reconnect.first = Duration{1'000};
  options.reconnect.cap = Duration{1'000};
  return options;
}

inline std::chrono::milliseconds since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               start);
}

class Reminders : public ::testing::Test {
 protected:
  ReminderSet reminders_at(std::string url, Connection::Options options = hasty()) {
    return {loop_.get_executor(), config_for(std::move(url)), options};
  }

  template <class T>
  Result<T> await(Awaitable<T> call) {
    return test::run_on(loop_, std::move(call));
  }

  // Asks every 10 ms until the server's clock is read.
  bool comes_back(ReminderSet& reminders) {
    const auto start = std::chrono::steady_clock::now();
    while (since(start) < std::chrono::seconds(10)) {
      if (await(reminders.server_time())) return true;
      boost::asio::steady_timer pause(loop_, std::chrono::milliseconds(10));
      bool is_over = false;
      pause.async_wait([&](boost::system::error_code) { is_over = true; });
      test::run_until(loop_, [&] { return is_over; });
    }
    return false;
  }

  boost::asio::io_context loop_{1};
};

}  // namespace order_timeout::redis
