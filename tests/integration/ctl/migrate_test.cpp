// Proves that what `sql` prints for a DBA makes, by psql, the same objects and rights as `migrate`
// does, and that migrate may be run again at any time.
#include <cstdio>

#include "ctl_fixture.hpp"

namespace order_timeout::testing {
namespace {

using ::testing::HasSubstr;

// Every object of ours with its definition and rights, one a line.
const std::string kObjects = R"(
  select 'relation ' || c.relname || ' ' || c.relkind::text || ' ' || c.relowner::regrole ||
         coalesce(c.relacl::text, '') || coalesce(pg_get_viewdef(c.oid), '')
    from pg_class c where c.relnamespace = 'order_timeout'::regnamespace and c.relkind <> 't'
  union all
  select 'column ' || a.attrelid::regclass || '.' || a.attname || ' ' ||
         format_type(a.atttypid, a.atttypmod) || a.attnotnull
    from pg_attribute a join pg_class c on c.oid = a.attrelid
   where c.relnamespace = 'order_timeout'::regnamespace and a.attnum > 0 and not a.attisdropped
  union all
  select 'constraint ' || conname || pg_get_constraintdef(oid)
    from pg_constraint where connamespace = 'order_timeout'::regnamespace
  union all
  select 'function ' || p.oid::regprocedure || p.proowner::regrole || coalesce(p.proacl::text, '') ||
         coalesce(p.proconfig::text, '') || p.prosecdef || p.prosrc
    from pg_proc p where p.pronamespace = 'order_timeout'::regnamespace
  union all
  select 'schema ' || n.nspowner::regrole || n.nspacl::text
    from pg_namespace n where n.nspname = 'order_timeout'
  union all
  select 'shop ' || c.relname || coalesce(c.relacl::text, '') from pg_class c
   where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
  union all
  select 'mapping ' || mapping || table_name || columns::text from order_timeout.shop_mapping
  order by 1)";

class Migrating : public CtlFixture {
 protected:
  // A database with the shop alone.
  std::string bare_shop() {
    const std::string name = server_.new_empty_database();
    const ProgramRun made = psql(name, {"--file", ORDER_TIMEOUT_SOURCE_DIR "/sql/sample/shop.sql"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return name;
  }
  ProgramRun psql(const std::string& database, const std::vector<std::string>& words,
                  const std::string& input = "") const {
    std::vector<std::string> all = {"psql",  "--no-psqlrc",     "--quiet",
                                    "--set", "ON_ERROR_STOP=1", server_.url(database)};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(std::move(all), input);
  }
  std::string objects(const std::string& database) const {
    Session session(server_.url(database));
    std::string all;
    for (const Row& row : session.rows(kObjects)) all += row.at(0).value_or("NULL") + '\n';
    return all;
  }
};

TEST_F(Migrating, ThePrintedScriptMakesTheSame) {
  const std::string by_tool = bare_shop();
  const std::string by_hand = bare_shop();
  const ProgramRun migrated = ctl_on(server_.url(by_tool), {"migrate"});
  EXPECT_EQ(migrated.exit_code, 0) << migrated.err;
  EXPECT_THAT(migrated.out, HasSubstr("applied rules"));
  const ProgramRun script = ctl({"sql"});
  ASSERT_EQ(script.exit_code, 0) << script.err;
  const ProgramRun applied = psql(by_hand, {"--file", "-"}, script.out);
  ASSERT_EQ(applied.exit_code, 0) << applied.err;
  const std::string expected = objects(by_tool);
  EXPECT_THAT(expected, HasSubstr("close_orders_by_hand"));
  EXPECT_EQ(objects(by_hand), expected);
  const ProgramRun twice = psql(by_hand, {"--file", "-"}, script.out);
  EXPECT_EQ(twice.exit_code, 0) << twice.err;
  EXPECT_EQ(objects(by_hand), expected);
}

TEST_F(Migrating, AgainChangesNothing) {
  const std::string before = objects(database_);
  const ProgramRun again = ctl_on(server_.url(database_), {"--json", "migrate"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(boost::json::parse(again.out).at("applied").as_array().size(), 0U);
  EXPECT_EQ(objects(database_), before);
}

TEST_F(Migrating, IsNotForTheDaemonsRole) {
  const ProgramRun run = ctl({"migrate"});
  EXPECT_EQ(run.exit_code, 77) << run.err;
}

TEST_F(Migrating, DroppedViewsComeBackWithTheNextRun) {
  const std::string before = objects(database_);
  EXPECT_EQ(ctl_on(server_.url(database_), {"migrate", "--drop-view"}).exit_code, 0);
  EXPECT_FALSE(shop_.refused("alter table t_order alter column amount_cents type numeric"));
  EXPECT_FALSE(shop_.refused("alter table t_order alter column amount_cents type bigint"));
  EXPECT_EQ(ctl_on(server_.url(database_), {"migrate"}).exit_code, 0);
  EXPECT_EQ(objects(database_), before);
}

}  // namespace
}  // namespace order_timeout::testing
