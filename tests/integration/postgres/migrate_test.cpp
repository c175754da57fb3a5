// Proves that migrate makes everything or nothing, may be run again and again (by two at once too),
// refuses a shop that does not fit by name, that the printed script makes the same objects, and
// that a changed shop is noticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "postgres/migrations.hpp"
#include "postgres/statements.hpp"
#include "support/postgres_server.hpp"
#include "support/sample_shop.hpp"
#include "support/sql.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Migrate : public ::testing::Test {
 protected:
  ~Migrate() override { server_.drop_database(database_); }

  // Every object of our schema: name, definition or columns, owner and rights.
  static Rows objects(Session& session) {
    return session.rows(
        "SELECT 'r', c.relname::text, c.relkind::text, c.relacl::text, "
        "pg_get_userbyid(c.relowner), "
        "  CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) ELSE (SELECT string_agg(a.attname || "
        "' ' || "
        "  format_type(a.atttypid, a.atttypmod) || coalesce(a.attacl::text, ''), ',' ORDER BY "
        "attnum) "
        "  FROM pg_attribute a WHERE a.attrelid = c.oid AND attnum > 0) END "
        "FROM pg_class c WHERE c.relnamespace = 'order_timeout'::regnamespace "
        "UNION ALL SELECT 'f', p.oid::regprocedure::text, p.provolatile::text, p.proacl::text, "
        "  pg_get_userbyid(p.proowner), pg_get_functiondef(p.oid) "
        "FROM pg_proc p WHERE p.pronamespace = 'order_timeout'::regnamespace ORDER BY 1, 2, 6");
  }

  void shop_only() {
    shop_.exec(
        "DROP SCHEMA order_timeout CASCADE; REVOKE ALL ON t_order, t_order_item, t_payment FROM "
        "order_timeout_owner");
  }

  Result<postgres::MigrationReport> migrate(bool drop_view = false) {
    return postgres::migrate(server_.url(database_), mapping_, drop_view);
  }

  std::string mapping_state() {
    const Rows rows = shop_.rows("SELECT fits, detail FROM order_timeout.mapping_state('" +
                                 postgres::mapping_text(mapping_) + "')");
    return rows.at(0).at(0) == "t" ? "fits" : rows.at(0).at(1).value_or("NULL");
  }

  PostgresServer& server_ = PostgresServer::shared();
  std::string database_ = server_.new_database();
  Session shop_{server_.url(database_)};
  OrderTableConfig mapping_ = sample_order_table();
};

TEST_F(Migrate, MakesEverythingAndSaysWhat) {
  shop_only();
  const auto report = migrate();
  ASSERT_TRUE(report) << report.error().detail;
  EXPECT_THAT(report->applied, ElementsAre("rules", "outbox", "records", "indexes", "payment"));
  EXPECT_EQ(report->schema_version, 5);
  EXPECT_THAT(report->notices, IsEmpty());
  EXPECT_EQ(
      shop_.value("SELECT string_agg(DISTINCT pg_get_userbyid(relowner), ',') FROM pg_class WHERE "
                  "relnamespace = 'order_timeout'::regnamespace"),
      "order_timeout_owner");
}

TEST_F(Migrate, RunsAgainWithoutChangingAnything) {
  shop_.exec("INSERT INTO order_timeout.hold VALUES (1, 'r', 'lin')");
  const Rows before = objects(shop_);
  const auto report = migrate();
  ASSERT_TRUE(report) << report.error().detail;
  EXPECT_THAT(report->applied, IsEmpty());
  EXPECT_EQ(objects(shop_), before);
  EXPECT_EQ(shop_.value("SELECT count(*) FROM order_timeout.hold"), "1");
}

TEST_F(Migrate, ThePrintedScriptMakesTheSame) {
  const Rows migrated = objects(shop_);
  shop_only();
  shop_.exec(postgres::full_script(mapping_));
  EXPECT_EQ(objects(shop_), migrated);
  shop_.exec(postgres::full_script(mapping_));
  EXPECT_EQ(objects(shop_), migrated);
  EXPECT_EQ(mapping_state(), "fits");
}

TEST_F(Migrate, TwoAtOnceFollowEachOther) {
  shop_only();
  auto other = std::async(std::launch::async, [this] { return migrate(); });
  const auto mine = migrate();
  const auto theirs = other.get();
  ASSERT_TRUE(mine) << mine.error().detail;
  ASSERT_TRUE(theirs) << theirs.error().detail;
  EXPECT_EQ(mapping_state(), "fits");
}

TEST_F(Migrate, FollowsAColumnWhoseTypeChanged) {
  ASSERT_TRUE(migrate(true));
  shop_.exec("ALTER TABLE t_order ALTER id TYPE int, ALTER created_at TYPE timestamp");
  EXPECT_THAT(mapping_state(), HasSubstr("the view order_timeout.shop_order is dropped"));
  const auto report = migrate();
  ASSERT_TRUE(report) << report.error().detail;
  EXPECT_EQ(
      shop_.value(
          "SELECT pg_typeof(id) || ' ' || pg_typeof(created_raw) FROM order_timeout.shop_order "
          "RIGHT JOIN (VALUES (1)) one ON true"),
      "integer timestamp without time zone");
  EXPECT_EQ(mapping_state(), "fits");
}

TEST_F(Migrate, DropViewKeepsTheTables) {
  shop_.exec("INSERT INTO order_timeout.hold VALUES (1, 'r', 'lin')");
  ASSERT_TRUE(migrate(true));
  EXPECT_EQ(shop_.value("SELECT count(*) FROM pg_views WHERE schemaname = 'order_timeout'"), "0");
  EXPECT_EQ(shop_.value("SELECT to_regproc('order_timeout.close_orders') IS NULL"), "t");
  EXPECT_EQ(shop_.value("SELECT count(*) FROM order_timeout.hold"), "1");
  ASSERT_TRUE(migrate(true)) << "twice does no harm";
}

TEST_F(Migrate, RefusesAShopThatDoesNotFitAndTouchesNothing) {
  shop_only();
  mapping_.columns.deadline = "pay_by";
  mapping_.columns.created_at = "user_id";
  const auto report = migrate();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, FailureKind::rejected);
  EXPECT_THAT(report.error().detail, HasSubstr("table public.t_order has no column pay_by"));
  EXPECT_THAT(report.error().detail, HasSubstr("column user_id of public.t_order is bigint"));
  EXPECT_EQ(shop_.value("SELECT to_regnamespace('order_timeout') IS NULL"), "t");
}

TEST_F(Migrate, RefusesATableThatIsNotThere) {
  mapping_.name = "public.no_such";
  EXPECT_THAT(migrate().error().detail, HasSubstr("there is no table public.no_such"));
}

TEST_F(Migrate, RefusesANameThatNoTableCanHave) {
  mapping_.name = std::string(64, 'x');
  EXPECT_THAT(migrate().error().detail, HasSubstr("1 to 63 bytes"));
}

TEST_F(Migrate, LeavesTheSchemaOfANewerVersionAlone) {
  shop_.exec("INSERT INTO order_timeout.schema_version VALUES (999, 'future')");
  const Rows before = objects(shop_);
  EXPECT_THAT(migrate().error().detail, HasSubstr("newer version"));
  EXPECT_EQ(objects(shop_), before);
}

TEST_F(Migrate, SaysThatTheDatabaseIsUnavailable) {
  const auto report = postgres::migrate(
      "host=" + server_.socket_dir() + " port=1 dbname=none user=postgres", mapping_, false);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, FailureKind::unavailable);
}

TEST_F(Migrate, TheMappingFitsUntilTheShopOrTheMappingChanges) {
  EXPECT_EQ(mapping_state(), "fits");
  const std::string other = postgres::mapping_text([] {
    OrderTableConfig changed = sample_order_table();
    changed.closed = "CANCELLED";
    return changed;
  }());
  EXPECT_EQ(shop_.value("SELECT detail FROM order_timeout.mapping_state('" + other + "')"),
            "the database objects were made for another order_table section; run order-timeoutctl "
            "migrate");
  shop_.exec("ALTER TABLE t_order ALTER COLUMN version DROP DEFAULT");
  EXPECT_EQ(mapping_state(), "fits");
  shop_.exec("ALTER TABLE t_order RENAME biz_line TO line");
  EXPECT_THAT(mapping_state(),
              HasSubstr("column biz_line of \"public\".\"t_order\" was text, is gone"));
}

TEST_F(Migrate, ASwappedTableIsNoticedAndMendedByTheNextRun) {
  shop_.exec("ALTER TABLE t_order RENAME TO t_order_old; CREATE TABLE t_order (LIKE t_order_old)");
  EXPECT_THAT(mapping_state(), HasSubstr("is not the one the views were made for"));
  const auto report = migrate();
  ASSERT_TRUE(report) << report.error().detail;
  EXPECT_EQ(mapping_state(), "fits");
}

TEST_F(Migrate, ASwappedPaymentsTableIsNoticedToo) {
  shop_.exec(
      "ALTER TABLE t_payment RENAME TO t_payment_old; CREATE TABLE t_payment (LIKE t_payment_old)");
  const std::string swapped =
      "the table \"public\".\"t_payment\" is not the one the views were made for";
  EXPECT_THAT(mapping_state(), HasSubstr(swapped));
  shop_.exec("DROP TABLE t_order_item CASCADE");
  EXPECT_THAT(mapping_state(),
              HasSubstr("the table \"public\".\"t_order_item\" does not exist; " + swapped));
}

}  // namespace
}  // namespace order_timeout::testing
