// For the tests of the close rule: a database of the sample shop, the sessions that meet in it, and
// one order line.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/postgres_server.hpp"
#include "support/sql.hpp"

namespace order_timeout::testing {

// One row of close_orders(); "NULL" stands for NULL.
struct CloseAnswer {
  std::string order_id, outcome, version, order_no, business_line, due_ms, retry_ms, detail;
};

// The default rule: timeout 60 s, grace 10 s, one event RELEASE_STOCK, max_age 30 days.
class CloseFixture : public ::testing::Test {
 protected:
  CloseFixture();
  ~CloseFixture() override;

  // A pending order created so many seconds ago: due where that is 70 or more.
  void place(int id, double seconds_ago, const std::string& line = "shop");
  CloseAnswer close(int id, const std::string& version = "NULL");
  std::vector<CloseAnswer> close_all(const std::string& ids, const std::string& versions = "NULL");
  std::string outcome(int id) { return close(id).outcome; }
  std::string status_of(int id);
  void apply_rules(const std::string& lines, const std::string& more = "\"max_age_ms\":2592000000");
  int count(const std::string& from);

  static std::vector<CloseAnswer> answers(const Rows& rows);

  PostgresServer& server_ = PostgresServer::shared();
  std::string database_ = server_.new_database();
  Session shop_{server_.url(database_)};  // the shop, and whoever looks
  Session daemon_{server_.url(database_, "order_timeout_daemon")};
};

}  // namespace order_timeout::testing
