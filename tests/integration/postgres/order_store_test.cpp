// Proves that the port OrderStore says what PostgreSQL says: outcomes of a close, orders behind
// reminders and timeout tasks, orders set aside; and that garbage in a reminder harms nobody.
#include "integration/postgres/store_fixture.hpp"

namespace order_timeout::postgres {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OrderStoreTest : public StoreFixture {
 protected:
  static TrackedOrder tracked(OrderId id, Version version = 0) {
    TrackedOrder order;
    order.id = id;
    order.version = version;
    return order;
  }
  std::map<OrderId, CloseResult> close_batch(std::vector<TrackedOrder> orders) {
    DueBatch batch;
    batch.orders = std::move(orders);
    std::map<OrderId, CloseResult> results;
    const auto answers = await(orders_.close_due(batch)).value();
    for (const auto& result : answers) results[result.id] = result;
    return results;
  }
  void task(const std::string& order_no, const std::string& due_at = "now()") {
    shop_.exec("INSERT INTO order_timeout.timeout_task (order_no, due_at) VALUES ('" + order_no +
               "', " + due_at + ")");
  }
};

TEST_F(OrderStoreTest, ClosesABatchAndSaysWhatBecameOfEach) {
  place(1, 100);
  place(2, 10);
  place(3, 100);
  shop_.exec("UPDATE t_order SET version = 5 WHERE id = 3");
  auto results = close_batch({tracked(1), tracked(2), tracked(3), tracked(4)});
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[1].outcome, CloseOutcome::closed);
  EXPECT_EQ(results[1].version, 1);
  EXPECT_EQ(results[1].order_no, "N1");
  EXPECT_EQ(results[1].business_line, "shop");
  EXPECT_EQ(results[2].outcome, CloseOutcome::not_due);
  EXPECT_TRUE(results[2].due && results[2].retry_at == results[2].due);
  EXPECT_EQ(results[3].outcome, CloseOutcome::version_moved);
  EXPECT_EQ(results[3].version, 5);
  EXPECT_EQ(results[4].outcome, CloseOutcome::missing);
  EXPECT_FALSE(results[4].due);
  EXPECT_EQ(status_of(1), "CLOSED");
  EXPECT_EQ(count("order_timeout.outbox"), 1);
}

TEST_F(OrderStoreTest, AnswersNeverForAnEndlessDeadline) {
  place(1, 100);
  shop_.exec(
      "INSERT INTO order_timeout.deadline_override (order_id, deadline) VALUES (1, 'infinity')");
  EXPECT_EQ(close_batch({tracked(1)})[1].retry_at, kNever);
}

TEST_F(OrderStoreTest, FailsAWholeBatchWithTheSqlstateOfItsWorstOrder) {
  place(1, 100);
  shop_.exec(
      "CREATE FUNCTION explode() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION "
      "''no''; END';"
      "CREATE TRIGGER t BEFORE UPDATE ON t_order FOR EACH ROW EXECUTE FUNCTION explode()");
  DueBatch batch;
  batch.orders = {tracked(1)};
  const auto failed = await(orders_.close_due(batch));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, FailureKind::rejected);
  EXPECT_EQ(failed.error().sqlstate, "P0001");
}

TEST_F(OrderStoreTest, MeetsALockedTableAsAConflict) {
  place(1, 100);
  testing::Session ddl(server_.url(database_));
  ddl.begin();
  ddl.exec("LOCK TABLE t_order");
  DueBatch batch;
  batch.orders = {tracked(1)};
  EXPECT_EQ(await(orders_.close_due(batch)).error().kind, FailureKind::conflict);
  ddl.rollback();
}

TEST_F(OrderStoreTest, SetsAnOrderAsideForAMinuteThenLonger) {
  const Failure failure{FailureKind::rejected, "ERROR: no\xff", "P0001"};
  const Instant now = await(control_.sample_clock()).value().database_now;
  const Instant first = await(orders_.quarantine(1, failure)).value();
  const Instant second = await(orders_.quarantine(1, failure)).value();
  EXPECT_NEAR(static_cast<double>(saturating_sub(first, now).count()), 60'000, 5'000);
  EXPECT_NEAR(static_cast<double>(saturating_sub(second, now).count()), 120'000, 5'000);
  EXPECT_EQ(shop_.value("SELECT sqlstate || ' ' || error FROM order_timeout.quarantine"),
            "P0001 ERROR: no?");
}

TEST_F(OrderStoreTest, ResolvesReminders) {
  place(1, 10);
  place(2, 10);
  shop_.exec("UPDATE t_order SET status = 'PAID' WHERE id = 2");
  const auto resolved =
      await(orders_.resolve({"N2", "N1", "N9", "N1", "", "a\"b\\c{,}", "\xff\xfe",
                             std::string("N1\0", 3), std::string(100'000, 'N'), "NULL"}))
          .value();
  ASSERT_EQ(resolved.size(), 10U);
  EXPECT_TRUE(resolved[0].found);
  EXPECT_FALSE(resolved[0].pending);
  EXPECT_TRUE(resolved[1].pending);
  EXPECT_EQ(resolved[1].order.id, 1);
  EXPECT_EQ(resolved[1].member, "N1");
  EXPECT_TRUE(resolved[3].pending);
  for (const std::size_t garbage : {2U, 4U, 5U, 6U, 7U, 8U, 9U}) {
    EXPECT_FALSE(resolved[garbage].found) << garbage;
  }
}

TEST_F(OrderStoreTest, ResolvesRemindersThatAreIds) {
  place(1, 10);
  config_.redis.emplace().member = ReminderMember::id;
  OrderStore by_id(bulkhead_, config_);
  const auto resolved =
      await(by_id.resolve({"1", "01", "+1", "2", "N1", "99999999999999999999", ""})).value();
  ASSERT_EQ(resolved.size(), 7U);
  EXPECT_TRUE(resolved[0].pending);
  for (std::size_t i = 1; i < resolved.size(); ++i) EXPECT_FALSE(resolved[i].found) << i;
  EXPECT_EQ(await(by_id.names_of({1})).value().at(1).member, "1");
}

TEST_F(OrderStoreTest, NeverDueIsAReminderOfAnOrderThatIsLeftAlone) {
  apply_rules(R"("never":{"timeout_ms":60000,"grace_ms":10000,"action":"ignore","on_close":[]})");
  place(1, 100, "never");
  place(2, 100, "unlisted");
  const auto resolved = await(orders_.resolve({"N1", "N2"})).value();
  for (const auto& reminder : resolved) {
    EXPECT_TRUE(reminder.pending);
    EXPECT_EQ(reminder.order.due, kNever);
  }
}

TEST_F(OrderStoreTest, NamesOrdersWithTheDatabasesOwnDeadline) {
  place(1, 100);
  const auto names = await(orders_.names_of({1, 2})).value();
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names.at(1).member, "N1");
  EXPECT_EQ(names.at(1).due,
            instant_from_ms(std::stoll(shop_.value(
                "SELECT order_timeout.epoch_ms(close_deadline) FROM order_timeout.timed_order"))));
}

TEST_F(OrderStoreTest, ReadsTheNewestTimeoutTaskOfEachOrder) {
  place(1, 10);
  task("N1", "'2030-01-01Z'");
  task("N1", "'2031-01-01Z'");
  task("N9");
  const auto tasks = await(orders_.timeout_tasks()).value();
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].order_no, "N1");
  EXPECT_TRUE(tasks[0].pending);
  EXPECT_EQ(tasks[0].order.id, 1);
  EXPECT_EQ(tasks[0].due_at, instant_from_ms(1'924'992'000'000));
  EXPECT_FALSE(tasks[1].found);
}

TEST_F(OrderStoreTest, ReadsTimeoutTasksBehindAnyNumberThatNameNoOrder) {
  place(1, 10);
  shop_.exec(
      "INSERT INTO order_timeout.timeout_task (order_no, due_at)"
      " SELECT 'none' || n, now() FROM generate_series(1, 10000) n");
  task("N1");
  EXPECT_EQ(await(orders_.timeout_tasks()).value().size(), 10'000U);
  const auto second = await(orders_.timeout_tasks()).value();
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].order.id, 1);
  EXPECT_EQ(await(orders_.timeout_tasks()).value().size(), 10'000U) << "it begins again";
}

TEST_F(OrderStoreTest, TellsATimeoutTaskWhoseOrderWillNotCome) {
  task("old");
  task("later", "now() + interval '1 hour'");
  task("new");
  shop_.exec(
      "UPDATE order_timeout.timeout_task SET created_at = now() - interval '25 hours',"
      " due_at = least(due_at, now() - interval '24 hours') WHERE order_no = 'old'");
  shop_.exec(
      "UPDATE order_timeout.timeout_task SET created_at = now() - interval '25 hours'"
      " WHERE order_no = 'later'");
  std::map<std::string, bool> stale;
  const auto tasks = await(orders_.timeout_tasks()).value();
  for (const auto& read : tasks) stale[read.order_no] = read.stale;
  EXPECT_EQ(stale, (std::map<std::string, bool>{{"later", false}, {"new", false}, {"old", true}}));
}

TEST_F(OrderStoreTest, FinishesOnlyTheTimeoutTasksThatWereRead) {
  task("N1");
  task("N2");
  await(orders_.timeout_tasks()).value();
  task("N1");
  await(orders_.finish_timeout_tasks({"N1", "N3"})).value();
  EXPECT_EQ(shop_.value("SELECT string_agg(order_no || status, ' ' ORDER BY id)"
                        " FROM order_timeout.timeout_task"),
            "N1DONE N2PENDING N1PENDING");
}

TEST_F(OrderStoreTest, RemovesTimeoutTasksADayAfterTheyAreDone) {
  task("old");
  task("new");
  shop_.exec(
      "UPDATE order_timeout.timeout_task SET status = 'DONE',"
      " created_at = now() - interval '25 hours' WHERE order_no = 'old'");
  await(orders_.timeout_tasks()).value();
  await(orders_.finish_timeout_tasks({"new"})).value();
  EXPECT_EQ(shop_.value("SELECT string_agg(order_no, ' ') FROM order_timeout.timeout_task"), "new");
}

}  // namespace
}  // namespace order_timeout::postgres
