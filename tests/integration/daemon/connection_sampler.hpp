// Counts, on a thread of its own, the connections of one role to one database, for as long as it
// lives; goes on through restarts of the server.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "support/sql.hpp"

namespace order_timeout::testing {

class ConnectionSampler {
 public:
  ConnectionSampler(std::string url, std::string role)
      : url_(std::move(url)),
        query_(
            "select count(*) from pg_stat_activity where datname = current_database()"
            " and usename = '" +
            role + "'"),
        thread_([this](const std::stop_token& stop) { watch(stop); }) {}

  int most() const { return most_; }
  int samples() const { return samples_; }

 private:
  static constexpr std::chrono::milliseconds kBetween{20};

  void watch(const std::stop_token& stop) {
    std::unique_ptr<Session> session;
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      try {
        if (!session) session = std::make_unique<Session>(url_);
        most_ = std::max(most_.load(), std::stoi(session->value(query_)));
        ++samples_;
      } catch (const std::exception&) {  // the server is away
        session.reset();
      }
      stopped.wait_for(lock, stop, kBetween, [] { return false; });
    }
  }

  const std::string url_;
  const std::string query_;
  std::atomic<int> most_ = 0;
  std::atomic<int> samples_ = 0;
  std::jthread thread_;  // last: ends before what it uses
};

}  // namespace order_timeout::testing
