// Proves the daemon's view of its own tables: rules in force, mapping, sweeps, clock, figures.
#include "integration/postgres/store_fixture.hpp"

namespace order_timeout::postgres {
namespace {

using ::testing::HasSubstr;

class Control : public StoreFixture {
 protected:
  RuleSet rules() {
    RuleSet set;
    set.max_age = 720h;
    set.lines["default"] = BusinessLine{};
    BusinessLine hotel;
    hotel.timeout = 1500ms;
    hotel.grace = 0ms;
    hotel.action = LineAction::review;
    hotel.on_close = {};
    set.lines["ho\"tel"] = hotel;
    return set;
  }
};

TEST_F(Control, PutsRulesInForceAndKeepsTheRevisionOfTheSameOnes) {
  const std::int64_t revision = await(control_.apply_rules(rules())).value();
  EXPECT_EQ(await(control_.apply_rules(rules())).value(), revision);
  EXPECT_EQ(shop_.value("SELECT string_agg(concat_ws('/', business_line, timeout, grace, action,"
                        " on_close, max_age), ' ' ORDER BY business_line) FROM order_timeout.rule"),
            "default/00:30:00/00:01:00/close/{RELEASE_STOCK}/720:00:00 "
            "ho\"tel/00:00:01.5/00:00:00/review/{}/720:00:00");
  RuleSet other = rules();
  other.lines["default"].timeout = 10min;
  EXPECT_EQ(await(control_.apply_rules(other)).value(), revision + 1);
}

TEST_F(Control, FitsTheMappingItWasMadeFor) {
  const MappingState state = await(control_.mapping_state()).value();
  EXPECT_TRUE(state.fits) << state.detail;
}

TEST_F(Control, DoesNotFitAnotherMapping) {
  config_.order_table.paid = "PAYED";
  ControlStore other(bulkhead_, config_);
  const MappingState state = await(other.mapping_state()).value();
  EXPECT_FALSE(state.fits);
  EXPECT_THAT(state.detail, HasSubstr("order-timeoutctl migrate"));
}

TEST_F(Control, DoesNotFitADatabaseWithoutOurObjects) {
  config_.database.url = server_.url(server_.new_empty_database(), "order_timeout_daemon");
  Bulkhead bulkhead(loop_.get_executor(), config_.database);
  ControlStore other(bulkhead, config_);
  const MappingState state = await(other.mapping_state()).value();
  EXPECT_FALSE(state.fits);
  EXPECT_THAT(state.detail, HasSubstr("order-timeoutctl migrate"));
}

TEST_F(Control, SamplesAClockThatIsNeverAhead) {
  const Instant sampled = await(control_.sample_clock()).value().database_now;
  const auto after =
      std::stoll(shop_.value("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"));
  EXPECT_LE(to_ms(sampled), after);
  EXPECT_GT(to_ms(sampled), after - 5'000);
}

TEST_F(Control, RecordsASweep) {
  EXPECT_FALSE(await(control_.last_nightly()).value());
  SweepReport report;
  report.run_id = await(control_.begin_sweep(SweepKind::nightly)).value();
  EXPECT_EQ(shop_.value("SELECT kind || status FROM order_timeout.sweep_run"), "NIGHTLYRUNNING");
  EXPECT_FALSE(await(control_.last_nightly()).value());
  report.status = "SUCCESS";
  report.scanned = 10;
  report.closed = 7;
  report.skipped = 2;
  report.failed = 1;
  report.detail_json = R"({"tracked":8})";
  await(control_.finish_sweep(report)).value();
  EXPECT_EQ(shop_.value("SELECT concat_ws(' ', status, scanned, closed, skipped, failed, detail,"
                        " finished_at IS NOT NULL) FROM order_timeout.sweep_run"),
            "SUCCESS 10 7 2 1 {\"tracked\": 8} t");
  EXPECT_TRUE(await(control_.last_nightly()).value());
}

TEST_F(Control, MarksASweepThatNeverEndedAsInterrupted) {
  await(control_.begin_sweep(SweepKind::nightly)).value();
  await(control_.begin_sweep(SweepKind::catch_up)).value();
  await(control_.begin_sweep(SweepKind::nightly)).value();
  EXPECT_EQ(shop_.value("SELECT string_agg(kind || ' ' || status, ', ' ORDER BY id)"
                        " FROM order_timeout.sweep_run"),
            "NIGHTLY INTERRUPTED, CATCH_UP RUNNING, NIGHTLY RUNNING");
}

TEST_F(Control, CountsOrdersThatWait) {
  place(1, 10);
  place(2, 100);
  place(3, 200);
  place(4, 3'000'000);
  place(5, 100);
  shop_.exec("UPDATE t_order SET status = 'PAID' WHERE id = 5");
  shop_.exec("INSERT INTO order_timeout.hold (order_id, reason, \"by\") VALUES (2, 'r', 'me')");
  shop_.exec(
      "INSERT INTO order_timeout.quarantine (order_id, reason, next_attempt_at)"
      " VALUES (3, 'failed', now())");
  const OrderOverview overview = await(control_.overview()).value();
  EXPECT_EQ(overview.pending, 4);
  EXPECT_EQ(overview.held, 1);
  EXPECT_EQ(overview.quarantined, 1);
  EXPECT_EQ(overview.too_old, 1);
  EXPECT_EQ(overview.overdue, 2);
  EXPECT_NEAR(overview.oldest_overdue_seconds, 130, 5);
  EXPECT_EQ(overview.not_listed, 0);
}

TEST_F(Control, CountsOrdersOfLinesThatAreNotListed) {
  place(1, 100);
  place(2, 100);
  shop_.exec("UPDATE t_order SET biz_line = 'unheard of' WHERE id = 2");
  shop_.exec(
      "UPDATE order_timeout.rule SET business_line = 'shop' WHERE business_line = 'default'");
  const OrderOverview overview = await(control_.overview()).value();
  EXPECT_EQ(overview.pending, 2);
  EXPECT_EQ(overview.not_listed, 1);
  EXPECT_EQ(overview.overdue, 1);
}

TEST_F(Control, NamesThePausesInForce) {
  EXPECT_THAT(await(control_.pauses()).value(), ::testing::IsEmpty());
  shop_.exec(
      "INSERT INTO order_timeout.pause (scope, until, \"by\", reason) VALUES"
      " ('all', now() - interval '1 second', 'me', 'over'), ('line:shop', NULL, 'me', 'r'),"
      " ('event:release_stock', now() + interval '1 hour', 'me', 'r')");
  EXPECT_THAT(await(control_.pauses()).value(),
              ::testing::ElementsAre(::testing::Field(&Pause::scope, "event:release_stock"),
                                     ::testing::Field(&Pause::scope, "line:shop")));
}

}  // namespace
}  // namespace order_timeout::postgres
