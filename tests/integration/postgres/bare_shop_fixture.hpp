// For the tests of closing in a shop of its own making: a database without tables of ours, the
// smallest mapping, one business line with a timeout of 60 s and a grace of 10 s.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "postgres/migrations.hpp"
#include "support/close_fixture.hpp"

namespace order_timeout::testing {

class BareShop : public ::testing::Test {
 protected:
  ~BareShop() override { server_.drop_database(database_); }

  void migrate() {
    const auto report = postgres::migrate(server_.url(database_), mapping_, false);
    ASSERT_TRUE(report) << report.error().detail;
    shop_.exec(
        "SELECT order_timeout.apply_rules(NULL, '{\"lines\":{\"default\":{\"timeout_ms\":60000,"
        "\"grace_ms\":10000,\"action\":\"close\",\"on_close\":[\"RELEASE_STOCK\"]}}}')");
  }

  // Outcomes in the order of ids.
  std::vector<std::string> close(const std::string& ids) {
    Session daemon(server_.url(database_, "order_timeout_daemon"));
    std::vector<std::string> outcomes;
    for (const Row& row :
         daemon.rows("SELECT outcome FROM order_timeout.close_orders('{" + ids + "}', NULL)")) {
      outcomes.push_back(row.at(0).value_or("NULL"));
    }
    return outcomes;
  }

  // A table `orders` with the columns that a shop cannot do without.
  static OrderTableConfig bare() {
    OrderTableConfig mapping;
    mapping.name = "orders";
    mapping.columns = {.id = "id",
                       .order_no = "no",
                       .user_id = "",
                       .business_line = "line",
                       .status = "status",
                       .created_at = "created",
                       .version = "",
                       .deadline = "",
                       .amount = "",
                       .closed_at = "",
                       .paid_at = ""};
    return mapping;
  }

  PostgresServer& server_ = PostgresServer::shared();
  std::string database_ = server_.new_empty_database();
  Session shop_{server_.url(database_)};
  OrderTableConfig mapping_ = bare();
};

}  // namespace order_timeout::testing
