// Proves the text forms that statements get their arrays in, and what counts as text PostgreSQL can
// hold.
#include "postgres/array_text.hpp"

#include <gtest/gtest.h>

#include "postgres/control_store.hpp"

namespace order_timeout::postgres {
namespace {

TEST(ArrayText, WritesNumbers) {
  EXPECT_EQ(array_text(std::vector<std::int64_t>{1, -2, 9223372036854775807}),
            "{1,-2,9223372036854775807}");
  EXPECT_EQ(array_text(std::vector<std::int64_t>{}), "{}");
}

TEST(ArrayText, QuotesTexts) {
  EXPECT_EQ(array_text(std::vector<std::string>{"a", "", "x,\"y\\", "NULL"}),
            R"({"a","","x,\"y\\","NULL"})");
}

TEST(Storable, TakesUtf8WithoutNulUpToTheBound) {
  EXPECT_TRUE(storable("N-\xe2\x82\xac", 5));
  EXPECT_FALSE(storable("N-\xe2\x82\xac", 4));
  EXPECT_FALSE(storable("\xff", 10));
  EXPECT_FALSE(storable(std::string_view("a\0b", 3), 10));
}

TEST(RulesText, NamesEventTypesAndMilliseconds) {
  RuleSet rules;
  rules.max_age = Duration{1000};
  BusinessLine line;
  line.timeout = Duration{5'000};
  line.grace = Duration{0};
  line.action = LineAction::review;
  line.on_close = {"release_stock"};
  rules.lines["a\"b"] = line;
  EXPECT_EQ(rules_text(rules),
            R"({"max_age_ms":1000,"payment_max_delay_ms":600000,"lines":{"a\"b":)"
            R"({"timeout_ms":5000,"grace_ms":0,)"
            R"("action":"review","on_close":["RELEASE_STOCK"]}}})");
}

}  // namespace
}  // namespace order_timeout::postgres
