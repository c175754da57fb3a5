// For the tests of the bulkhead: one over the shared server, its work, and a session that looks at
// the server's side.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "postgres/bulkhead.hpp"
#include "support/loop.hpp"
#include "support/postgres_server.hpp"
#include "support/sql.hpp"

namespace order_timeout::postgres {

using namespace std::chrono_literals;

// A server process stopped as by a debugger or a hanging disk; it goes on when this ends.
class StoppedBackend {
 public:
  explicit StoppedBackend(pid_t pid) : pid_(pid) { ::kill(pid_, SIGSTOP); }
  ~StoppedBackend() { ::kill(pid_, SIGCONT); }
  StoppedBackend(const StoppedBackend&) = delete;
  StoppedBackend& operator=(const StoppedBackend&) = delete;

 private:
  pid_t pid_;
};

class BulkheadFixture : public ::testing::Test {
 protected:
  explicit BulkheadFixture(int connections = 3) {
    config_.url = server_.url(database_, "postgres");
    config_.connections = connections;
    config_.acquire_timeout = 3s;
    config_.connect_timeout = 2s;
  }

  Bulkhead& bulkhead() {
    if (!bulkhead_) bulkhead_ = std::make_unique<Bulkhead>(loop_.get_executor(), config_);
    return *bulkhead_;
  }

  asio::awaitable<Result<std::string>> ask(Use use, std::string sql, Duration deadline = 10s) {
    auto work = [sql = std::move(sql)](Connection& connection) {
      return connection.read(sql).text(0, 0);
    };
    return bulkhead().run(use, deadline, std::move(work));
  }
  asio::awaitable<Result<std::string>> tell(Use use, std::string sql, Duration deadline = 10s) {
    auto work = [sql = std::move(sql)](Connection& connection) {
      return connection.write(sql).text(0, 0);
    };
    return bulkhead().run(use, deadline, std::move(work));
  }

  template <class T>
  T await(asio::awaitable<T> work) {
    return test::run_on(loop_, std::move(work));
  }
  template <class T>
  auto start(asio::awaitable<T> work) {
    return test::start_on(loop_, std::move(work));
  }
  template <class Condition>
  bool run_until(Condition condition) {
    return test::run_until(loop_, condition);
  }

  pid_t backend_of(Use use) {
    return std::stoi(await(ask(use, "SELECT pg_backend_pid()")).value());
  }
  // As the server sees them.
  int backends() {
    return std::stoi(
        looking_.value("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                       " AND application_name = 'order-timeoutd'"));
  }

  testing::PostgresServer& server_ = testing::PostgresServer::shared();
  std::string database_ = server_.new_empty_database();
  testing::Session looking_{server_.url(database_)};
  DatabaseConfig config_;
  asio::io_context loop_;
  std::unique_ptr<Bulkhead> bulkhead_;
};

}  // namespace order_timeout::postgres
