// Proves that whatever the shop calls its things ends up as that name in the SQL and as nothing
// else: quoting, templates, columns that are not mapped, and one text for one mapping.
#include "postgres/statements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "postgres/embedded_sql.hpp"
#include "support/sample_shop.hpp"

namespace order_timeout::postgres {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(QuoteIdentifier, DoublesQuotesAndKeepsEverythingElse) {
  EXPECT_EQ(quote_identifier("order"), R"("order")");
  EXPECT_EQ(quote_identifier(R"(a"b)"), R"("a""b")");
  EXPECT_EQ(quote_identifier("订单 $1; --'"), "\"订单 $1; --'\"");
}

TEST(QuoteIdentifier, TakesOneTo63BytesWithoutNul) {
  EXPECT_EQ(quote_identifier(std::string(63, 'x')).size(), 65U);
  EXPECT_THROW(quote_identifier(std::string(64, 'x')), std::invalid_argument);
  EXPECT_THROW(quote_identifier(""), std::invalid_argument);
  EXPECT_THROW(quote_identifier(std::string_view("a\0b", 3)), std::invalid_argument);
}

TEST(QuoteTable, SplitsAtTheDotAndMeansPublicWithoutOne) {
  EXPECT_EQ(quote_table("shop.t_order"), R"("shop"."t_order")");
  EXPECT_EQ(quote_table("t_order"), R"("public"."t_order")");
  EXPECT_THROW(quote_table("a.b.c"), std::invalid_argument);
  EXPECT_THROW(quote_table("a."), std::invalid_argument);
  EXPECT_THROW(quote_table(".b"), std::invalid_argument);
}

TEST(QuoteLiteral, DoublesQuotesAndKeepsEverythingElse) {
  EXPECT_EQ(quote_literal("it's"), "'it''s'");
  EXPECT_EQ(quote_literal(R"(a\b")"), R"('a\b"')");
  EXPECT_EQ(quote_literal(""), "''");
  EXPECT_THROW(quote_literal(std::string_view("a\0b", 3)), std::invalid_argument);
}

TEST(Render, PutsEachValueInOnceAndNeverSearchesIt) {
  EXPECT_EQ(render("{{a}}-{{b}}-{{a}}", {{"a", "{{b}}"}, {"b", "2"}}), "{{b}}-2-{{b}}");
  EXPECT_EQ(render("no token } {", {}), "no token } {");
}

TEST(RenderDeathTest, ATokenWithoutAValueEndsTheProgram) {
  EXPECT_DEATH(render("x {{nothing}} y", {}), "no value for \\{\\{nothing\\}\\}");
  EXPECT_DEATH(render("x {{open", {{"open", "1"}}), "no value for");
}

TEST(RenderFunction, PutsTheShopsNamesIntoTheView) {
  OrderTableConfig mapping = ::order_timeout::testing::sample_order_table();
  mapping.name = "shop.my\"order";
  mapping.columns.id = "select";
  mapping.pending = "it's waiting";
  const std::string view = render_function(embedded_sql("functions/shop_order.sql"), mapping);
  EXPECT_THAT(view, HasSubstr(R"(from "shop"."my""order" as o)"));
  EXPECT_THAT(view, HasSubstr(R"(o."select" as id)"));
  EXPECT_THAT(view, HasSubstr(R"(o."status" = 'it''s waiting' as pending)"));
}

TEST(RenderFunction, AColumnThatIsNotMappedIsATypedNull) {
  OrderTableConfig mapping;
  mapping.name = "t";
  mapping.columns.user_id.clear();
  mapping.columns.version.clear();
  mapping.columns.closed_at.clear();
  mapping.columns.amount.clear();
  const std::string view = render_function(embedded_sql("functions/shop_order.sql"), mapping);
  EXPECT_THAT(view, HasSubstr("NULL::text::text as user_id"));
  EXPECT_THAT(view, HasSubstr("(NULL::int::bigint & 2147483647)::int as version"));
  EXPECT_THAT(view, HasSubstr("instant(NULL::timestamptz) as closed_at"));
  EXPECT_THAT(view, HasSubstr("NULL::numeric::numeric as amount"));
  const std::string close = render_function("set {{close_assignments}};", mapping);
  EXPECT_EQ(close, R"(set "status" = 'CLOSED';)");
}

TEST(RenderFunction, APaymentSetsStatusVersionAndPaidAtWhereTheyAreMapped) {
  OrderTableConfig mapping = ::order_timeout::testing::sample_order_table();
  EXPECT_EQ(render_function("{{pay_assignments}}", mapping),
            "\"status\" = 'PAID',\n           \"version\" = o.\"version\" + 1,\n           "
            "\"paid_at\" = coalesce(o.\"paid_at\", order_timeout.shop_time(now(), "
            "o.\"paid_at\"))");
  mapping.columns.version.clear();
  mapping.columns.paid_at.clear();
  EXPECT_EQ(render_function("{{pay_assignments}}", mapping), "\"status\" = 'PAID'");
}

TEST(RenderFunction, TheDollarQuoteOccursInNoName) {
  OrderTableConfig mapping;
  mapping.name = "t";
  EXPECT_EQ(render_function("{{tag}}", mapping), "$body$");
  mapping.closed = "x$body$; drop table t; --";
  mapping.columns.id = "$body1$";
  EXPECT_EQ(render_function("{{tag}}", mapping), "$body2$");
}

TEST(RenderFunction, GrantsOnlyWhatIsMapped) {
  OrderTableConfig mapping;
  mapping.name = "shop.t";
  mapping.columns = {.id = "id",
                     .order_no = "no",
                     .user_id = "",
                     .business_line = "line",
                     .status = "s",
                     .created_at = "c",
                     .version = "",
                     .deadline = "",
                     .amount = "",
                     .closed_at = "",
                     .paid_at = ""};
  EXPECT_EQ(render_function("{{shop_grants}}", mapping),
            "grant select (\"id\", \"no\", \"line\", \"s\", \"c\") on \"shop\".\"t\" to "
            "order_timeout_owner;\n"
            "grant update (\"s\") on \"shop\".\"t\" to order_timeout_owner;");
}

TEST(RenderFunction, AnEmptyListOfStatusesMatchesNothing) {
  OrderTableConfig mapping = ::order_timeout::testing::sample_order_table();
  mapping.payments.in_progress.clear();
  EXPECT_EQ(render_function("{{payment_paid}} {{payment_in_progress}}", mapping),
            R"(p."status" in ('SUCCESS') false)");
}

TEST(MappingText, IsTheSameForTheSameMappingAndAnotherForAnother) {
  const OrderTableConfig mapping = ::order_timeout::testing::sample_order_table();
  EXPECT_EQ(mapping_text(mapping), mapping_text(::order_timeout::testing::sample_order_table()));
  OrderTableConfig other = mapping;
  other.columns.deadline = "pay_by";
  EXPECT_NE(mapping_text(other), mapping_text(mapping));
  other = mapping;
  other.payments.paid.push_back("DONE");
  EXPECT_NE(mapping_text(other), mapping_text(mapping));
  other = mapping;
  other.time_zone = "Asia/Shanghai";
  EXPECT_NE(mapping_text(other), mapping_text(mapping));
}

TEST(MappingText, IsJson) {
  OrderTableConfig mapping;
  mapping.name = "a\"b\\c\n";
  mapping.columns.user_id.clear();
  EXPECT_THAT(mapping_text(mapping), HasSubstr(R"({"name":"a\"b\\c\u000a","columns":{"id":"id",)"));
  EXPECT_THAT(mapping_text(mapping), HasSubstr(R"("user_id":null,)"));
  EXPECT_THAT(mapping_text(mapping), HasSubstr(R"("items":null,"payments":null})"));
}

}  // namespace
}  // namespace order_timeout::postgres
