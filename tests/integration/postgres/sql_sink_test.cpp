// Proves that an event delivered as a statement has its effect exactly once: effect and SUCCESS
// stand or fall together, and without the lease nothing is done.
#include "postgres/sql_sink.hpp"

#include "integration/postgres/store_fixture.hpp"

namespace order_timeout::postgres {
namespace {

using ::testing::HasSubstr;

class SqlSinkTest : public StoreFixture {
 protected:
  SqlSinkTest() {
    shop_.exec(
        "CREATE TABLE effect (body jsonb, path text);"
        "CREATE FUNCTION release(event jsonb) RETURNS void LANGUAGE sql SECURITY DEFINER AS"
        " 'INSERT INTO public.effect VALUES (event, current_setting(''search_path''))';"
        "GRANT EXECUTE ON FUNCTION release TO order_timeout_daemon");
    shop_.exec(
        "INSERT INTO order_timeout.outbox (event_key, order_id, order_no, event_type, payload)"
        " VALUES ('1:RELEASE_STOCK', 1, 'N1', 'RELEASE_STOCK', '{\"order_id\":1}')");
  }
  OutboxEvent claim() { return await(outbox_.claim("RELEASE_STOCK", 1)).value().at(0); }
  DeliveryOutcome deliver(const OutboxEvent& event,
                          const std::string& statement = "SELECT release($1::jsonb)") {
    SqlSink sink(bulkhead_, config_.database, statement);
    return await(sink.deliver(event));
  }
  std::string status() {
    return shop_.value(
        "SELECT concat_ws(' ', status, attempts, leased_by IS NULL, finished_at IS"
        " NOT NULL) FROM order_timeout.outbox");
  }
};

TEST_F(SqlSinkTest, RecordsTheEffectWithIt) {
  const DeliveryOutcome outcome = deliver(claim());
  EXPECT_EQ(outcome.kind, DeliveryKind::done) << outcome.detail;
  EXPECT_TRUE(outcome.recorded);
  EXPECT_EQ(status(), "SUCCESS 1 t t");
  EXPECT_EQ(shop_.value("SELECT body->>'event_id' || (body->>'attempt') FROM effect"),
            "1:RELEASE_STOCK1");
}

TEST_F(SqlSinkTest, RunsTheStatementUnderTheDatabasesOwnSearchPath) {
  shop_.exec("ALTER DATABASE " + database_ + " SET search_path = public, pg_temp");
  deliver(claim());
  EXPECT_EQ(shop_.value("SELECT path FROM effect"), "public, pg_temp");
}

TEST_F(SqlSinkTest, DoesNothingWithoutTheLease) {
  const OutboxEvent old = claim();
  shop_.exec("UPDATE order_timeout.outbox SET next_attempt_at = now() - interval '1 ms'");
  const OutboxEvent now = claim();
  const DeliveryOutcome outcome = deliver(old);
  EXPECT_EQ(outcome.kind, DeliveryKind::uncertain);
  EXPECT_TRUE(outcome.recorded);
  EXPECT_EQ(count("effect"), 0);
  EXPECT_EQ(deliver(now).kind, DeliveryKind::done);
  EXPECT_EQ(deliver(now).kind, DeliveryKind::uncertain);
  EXPECT_EQ(count("effect"), 1);
}

TEST_F(SqlSinkTest, RollsBackTogether) {
  // The effect is refused when the transaction commits.
  shop_.exec(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
      " 'BEGIN RAISE EXCEPTION ''no''; END';"
      "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED"
      " FOR EACH ROW EXECUTE FUNCTION refuse()");
  const DeliveryOutcome outcome = deliver(claim());
  EXPECT_EQ(outcome.kind, DeliveryKind::retry);
  EXPECT_TRUE(outcome.attempt_spent);
  EXPECT_FALSE(outcome.recorded);
  EXPECT_THAT(outcome.detail, HasSubstr("P0001"));
  EXPECT_EQ(status(), "PENDING 1 f f");
  EXPECT_EQ(count("effect"), 0);
}

TEST_F(SqlSinkTest, RejectsAnEventWhoseValuesAreNeverTaken) {
  EXPECT_EQ(deliver(claim(), "SELECT ($1::jsonb->>'order_id')::int / 0").kind,
            DeliveryKind::rejected);
}

TEST_F(SqlSinkTest, SpendsNoEventOnAStatementThatCannotRun) {
  for (const char* statement :
       {"SELECT no_such_function($1::jsonb)", "SELEC $1", "DELETE FROM effect WHERE body = $1"}) {
    shop_.exec("UPDATE order_timeout.outbox SET next_attempt_at = now(), leased_by = NULL");
    const DeliveryOutcome outcome = deliver(claim(), statement);
    EXPECT_EQ(outcome.kind, DeliveryKind::unhealthy) << statement << ": " << outcome.detail;
    EXPECT_FALSE(outcome.attempt_spent);
  }
}

// libpqxx 6.4 takes the server's complaint for a lost connection.
TEST_F(SqlSinkTest, SpendsNoEventOnAStatementWithoutAParameter) {
  const DeliveryOutcome outcome = deliver(claim(), "SELECT 1");
  EXPECT_THAT(outcome.kind, ::testing::AnyOf(DeliveryKind::retry, DeliveryKind::unhealthy));
  EXPECT_FALSE(outcome.attempt_spent);
}

TEST_F(SqlSinkTest, TriesAgainWhenSomebodyElseHoldsTheRow) {
  const OutboxEvent event = claim();
  testing::Session other(server_.url(database_));
  other.begin();
  other.exec("SELECT 1 FROM order_timeout.outbox FOR UPDATE");
  EXPECT_EQ(deliver(event).kind, DeliveryKind::retry);
  other.rollback();
}

TEST_F(SqlSinkTest, IsCertainThatNothingHappenedWhereTheConnectionBreaksBeforeCommit) {
  const DeliveryOutcome outcome =
      deliver(claim(), "SELECT release($1::jsonb), pg_terminate_backend(pg_backend_pid())");
  EXPECT_EQ(outcome.kind, DeliveryKind::retry) << outcome.detail;
  EXPECT_FALSE(outcome.attempt_spent);
  EXPECT_EQ(count("effect"), 0);
}

TEST_F(SqlSinkTest, IsUncertainWhereTheConnectionBreaksDuringCommit) {
  shop_.exec(
      "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS"
      " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';"
      "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED"
      " FOR EACH ROW EXECUTE FUNCTION die()");
  const DeliveryOutcome outcome = deliver(claim());
  EXPECT_EQ(outcome.kind, DeliveryKind::uncertain);
  EXPECT_FALSE(outcome.recorded);
  EXPECT_EQ(status(), "PENDING 1 f f");
}

TEST_F(SqlSinkTest, SpendsNoEventWhereNoConnectionCanBeOpened) {
  const OutboxEvent event = claim();
  DatabaseConfig nowhere = config_.database;
  nowhere.url = "host=/nonexistent";
  Bulkhead bulkhead(loop_.get_executor(), nowhere);
  SqlSink sink(bulkhead, nowhere, "SELECT release($1::jsonb)");
  const DeliveryOutcome outcome = await(sink.deliver(event));
  EXPECT_EQ(outcome.kind, DeliveryKind::retry);
  EXPECT_FALSE(outcome.attempt_spent);
}

}  // namespace
}  // namespace order_timeout::postgres
