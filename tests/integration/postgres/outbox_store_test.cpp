// Proves the leases of the outbox: an event is claimed by one at a time, a lease that lapsed makes
// it uncertain and its old holder harmless, and an attempt counts from its claim.
#include <boost/json.hpp>

#include "integration/postgres/store_fixture.hpp"

namespace order_timeout::postgres {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Outbox : public StoreFixture {
 protected:
  void add(int order_id, const std::string& more = "DEFAULT") {
    const std::string id = std::to_string(order_id);
    shop_.exec(
        "INSERT INTO order_timeout.outbox (event_key, order_id, order_no, event_type, payload, due,"
        " next_attempt_at) VALUES ('" +
        id + ":RELEASE_STOCK', " + id + ", 'N" + id + "', 'RELEASE_STOCK', '{\"order_id\":" + id +
        "}', now() - interval '3 s', " + more + ")");
  }
  std::vector<OutboxEvent> claim(int limit = 10, const std::string& type = "RELEASE_STOCK") {
    return await(outbox_.claim(type, limit)).value();
  }
  std::int64_t finish(const OutboxEvent& event, EventStatus status, Duration wait = 0ms,
                      bool spent = true, const std::string& error = "") {
    FinishedAttempt attempt;
    attempt.row_id = event.row_id;
    attempt.leased_by = event.leased_by;
    attempt.status = status;
    attempt.wait = wait;
    attempt.attempt_spent = spent;
    attempt.last_error = error;
    return await(outbox_.finish({attempt})).value();
  }
  std::string row(const std::string& columns) {
    return shop_.value("SELECT concat_ws(' ', " + columns + ") FROM order_timeout.outbox");
  }
  void let_leases_lapse() {
    shop_.exec(
        "UPDATE order_timeout.outbox SET leased_until = now() - interval '1 ms',"
        " next_attempt_at = now() - interval '1 ms' WHERE leased_by IS NOT NULL");
  }
};

TEST_F(Outbox, ClaimsWithTheBodyASinkGets) {
  add(1);
  const auto events = claim();
  ASSERT_THAT(events, SizeIs(1));
  const OutboxEvent& event = events[0];
  EXPECT_EQ(event.event_key, "1:RELEASE_STOCK");
  EXPECT_EQ(event.order_id, 1);
  EXPECT_EQ(event.order_no, "N1");
  EXPECT_EQ(event.attempt, 1);
  EXPECT_FALSE(event.uncertain);
  EXPECT_NEAR(static_cast<double>(saturating_sub(event.closed_at, event.due).count()), 3'000, 2);
  EXPECT_EQ(boost::json::parse(event.body),
            boost::json::parse(R"({"event_id":"1:RELEASE_STOCK","event_type":"RELEASE_STOCK",)"
                               R"("attempt":1,"order_id":1})"));
  EXPECT_EQ(row("leased_until - now() BETWEEN interval '20 s' AND interval '30 s',"
                "next_attempt_at = leased_until, attempts"),
            "t t 1");
}

TEST_F(Outbox, ClaimsEachEventOnce) {
  for (int id = 1; id <= 5; ++id) add(id);
  EXPECT_THAT(claim(3), SizeIs(3));
  EXPECT_THAT(claim(3), SizeIs(2));
  EXPECT_THAT(claim(3), IsEmpty());
}

TEST_F(Outbox, ClaimsNothingThatSomebodyElseIsClaiming) {
  add(1);
  add(2);
  testing::Session other(server_.url(database_));
  other.begin();
  other.exec("SELECT 1 FROM order_timeout.outbox WHERE order_id = 1 FOR UPDATE");
  const auto events = claim();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].order_id, 2);
  other.rollback();
}

TEST_F(Outbox, ClaimsWhatIsDueEarliestFirstAndOnlyItsType) {
  add(1, "now() - interval '1 s'");
  add(2, "now() - interval '5 s'");
  add(3, "now() + interval '5 s'");
  EXPECT_THAT(claim(10, "REFUND"), IsEmpty());
  const auto events = claim();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].order_id, 2);
}

TEST_F(Outbox, FinishesSeveralAttemptsAtOnce) {
  add(1);
  add(2);
  add(3);
  const auto events = claim();
  std::vector<FinishedAttempt> attempts;
  const EventStatus statuses[] = {EventStatus::success, EventStatus::dead, EventStatus::uncertain};
  for (std::size_t i = 0; i < events.size(); ++i) {
    FinishedAttempt attempt;
    attempt.row_id = events[i].row_id;
    attempt.leased_by = events[i].leased_by;
    attempt.status = statuses[i];
    attempt.wait = 60s;
    attempt.last_error = i == 0 ? "" : "it said \xff\"no\"\nagain";
    attempts.push_back(attempt);
  }
  EXPECT_EQ(await(outbox_.finish(attempts)).value(), 3);
  EXPECT_EQ(shop_.value("SELECT string_agg(concat_ws('/', status, finished_at IS NOT NULL,"
                        " leased_by IS NULL, last_error), '; ' ORDER BY id)"
                        " FROM order_timeout.outbox"),
            "SUCCESS/t/t; DEAD/t/t/it said ?\"no\" again; UNCERTAIN/f/t/it said ?\"no\" again");
  EXPECT_THAT(claim(), IsEmpty());
}

TEST_F(Outbox, WaitsBeforeTheNextAttemptAndCountsIt) {
  add(1);
  finish(claim()[0], EventStatus::pending, 60s);
  EXPECT_EQ(row("status, attempts, next_attempt_at > now() + interval '50 s'"), "PENDING 1 t");
}

TEST_F(Outbox, GivesAnAttemptBackThatWasNotMade) {
  add(1);
  finish(claim()[0], EventStatus::pending, 0ms, false);
  EXPECT_EQ(row("attempts"), "0");
  EXPECT_EQ(claim()[0].attempt, 1);
}

TEST_F(Outbox, KeepsAnUncertainEventUncertain) {
  add(1);
  finish(claim()[0], EventStatus::uncertain);
  const auto events = claim();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_TRUE(events[0].uncertain);
  EXPECT_EQ(events[0].attempt, 2);
}

TEST_F(Outbox, TakesOverALapsedLeaseAsUncertain) {
  add(1);
  claim();
  let_leases_lapse();
  OutboxStore other(bulkhead_);
  const auto events = await(other.claim("RELEASE_STOCK", 10)).value();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_TRUE(events[0].uncertain);
  EXPECT_EQ(row("status"), "UNCERTAIN");
}

TEST_F(Outbox, WritesNothingForTheHolderOfALostLease) {
  add(1);
  const OutboxEvent old = claim()[0];
  let_leases_lapse();
  const OutboxEvent now = claim()[0];
  EXPECT_NE(old.leased_by, now.leased_by);
  EXPECT_EQ(finish(old, EventStatus::dead), 0);
  EXPECT_EQ(row("status, finished_at IS NULL"), "UNCERTAIN t");
  EXPECT_EQ(finish(now, EventStatus::success), 1);
  EXPECT_EQ(finish(now, EventStatus::dead), 0);
  EXPECT_EQ(row("status"), "SUCCESS");
}

TEST_F(Outbox, CountsWhatIsNotDelivered) {
  for (int id = 1; id <= 4; ++id) add(id, "now() - interval '1 s' * 10 * " + std::to_string(id));
  finish(claim(1)[0], EventStatus::dead);
  finish(claim(1)[0], EventStatus::success);
  const OutboxOverview overview = await(outbox_.overview()).value();
  std::map<std::string, std::int64_t> counts;
  for (const EventCount& one : overview.counts)
    counts[one.event_type + " " + one.status] = one.count;
  EXPECT_EQ(counts, (std::map<std::string, std::int64_t>{{"RELEASE_STOCK DEAD", 1},
                                                         {"RELEASE_STOCK PENDING", 2}}));
  EXPECT_NEAR(overview.oldest_claimable_seconds, 20, 5);
}

TEST_F(Outbox, RetiresDeliveredEventsAndRemembersTheirOrders) {
  for (int id = 1; id <= 3; ++id) {
    add(id);
    finish(claim()[0], EventStatus::success);
  }
  shop_.exec(
      "UPDATE order_timeout.outbox SET finished_at = now() - interval '8 days'"
      " WHERE order_id < 3");
  EXPECT_EQ(await(outbox_.retire(168h, 1)).value(), 1);
  EXPECT_EQ(await(outbox_.retire(168h, 10)).value(), 1);
  EXPECT_EQ(count("order_timeout.outbox"), 1);
  EXPECT_EQ(count("order_timeout.closed_order"), 2);
}

}  // namespace
}  // namespace order_timeout::postgres
