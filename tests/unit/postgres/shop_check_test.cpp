// Proves that a shop that does not fit its mapping is refused before anything is made, each problem
// with the column, what was found and what was expected, all of them at once.
#include "postgres/shop_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sample_shop.hpp"

namespace order_timeout::postgres {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

FoundColumn of_type(const std::string& name, const std::string& type) {
  return {name, type, false, {}};
}

class MappingProblems : public ::testing::Test {
 protected:
  FoundColumn& order_column(const std::string& name) {
    for (FoundColumn& column : found_.orders.columns) {
      if (column.name == name) return column;
    }
    ADD_FAILURE() << name;
    return found_.orders.columns.front();
  }

  std::vector<std::string> problems() const { return mapping_problems(mapping_, found_); }

  OrderTableConfig mapping_ = ::order_timeout::testing::sample_order_table();
  FoundShop found_{
      .orders = {true,
                 {of_type("id", "bigint"), of_type("order_no", "text"), of_type("user_id", "uuid"),
                  of_type("biz_line", "character varying"), of_type("status", "text"),
                  of_type("created_at", "timestamp with time zone"), of_type("version", "smallint"),
                  of_type("amount_cents", "numeric"),
                  of_type("closed_at", "timestamp without time zone"),
                  of_type("paid_at", "timestamp with time zone")}},
      .items = {true,
                {of_type("order_id", "integer"), of_type("sku_id", "text"),
                 of_type("qty", "integer")}},
      .payments = {
          true,
          {of_type("payment_id", "text"), of_type("order_id", "bigint"), of_type("status", "text"),
           of_type("amount_cents", "bigint"), of_type("created_at", "timestamp with time zone")}}};
};

TEST_F(MappingProblems, ThereAreNoneWhereAllFits) { EXPECT_THAT(problems(), IsEmpty()); }

TEST_F(MappingProblems, AMissingTableIsNamedAlone) {
  found_.orders = {};
  EXPECT_THAT(problems(), ElementsAre("order_table: there is no table public.t_order"));
}

TEST_F(MappingProblems, AMissingColumnIsNamed) {
  mapping_.columns.deadline = "pay_by";
  EXPECT_THAT(
      problems(),
      ElementsAre("order_table.columns.deadline: table public.t_order has no column pay_by"));
}

TEST_F(MappingProblems, AWrongTypeIsNamedBesideTheRightOnes) {
  order_column("id").type = "uuid";
  order_column("order_no").type = "character";
  order_column("created_at").type = "date";
  EXPECT_THAT(
      problems(),
      ElementsAre("order_table.columns.id: column id of public.t_order is uuid, expected smallint, "
                  "integer or bigint",
                  HasSubstr("is character, expected text, character varying or bigint"),
                  HasSubstr("is date, expected timestamp with time zone or timestamp without")));
}

TEST_F(MappingProblems, AStatusMustBeAValueOfTheEnum) {
  order_column("status") = {"status", "order_state", true, {"WAIT_PAY", "PAID"}};
  EXPECT_THAT(problems(),
              ElementsAre("order_table.status.closed: CLOSED is not a value of order_state, the "
                          "type of column status of public.t_order"));
}

TEST_F(MappingProblems, AStatusMustBeANumberWhereTheColumnIsOne) {
  order_column("status").type = "smallint";
  mapping_.pending = "0";
  mapping_.closed = "-1";
  EXPECT_THAT(problems(),
              ElementsAre(HasSubstr("order_table.status.paid: PAID is not an integer")));
}

TEST_F(MappingProblems, ItemsAndPaymentsAreLookedAtWhereTheyAreMapped) {
  found_.items.columns.pop_back();
  found_.payments.columns.at(4).type = "text";
  EXPECT_THAT(problems(), SizeIs(2));
  mapping_.items = {};
  mapping_.payments = {};
  EXPECT_THAT(problems(), IsEmpty());
}

}  // namespace
}  // namespace order_timeout::postgres
