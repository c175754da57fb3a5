// Proves what the scans of rebuild and sweeps give: every pending order in pages, each once; of the
// due ones only those that a close would answer differently from before; and those too old are
// counted only.
#include "integration/postgres/store_fixture.hpp"

namespace order_timeout::postgres {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OrderScan : public StoreFixture {
 protected:
  struct Scanned {
    std::vector<OrderId> ids;
    std::int64_t scanned = 0;
    std::int64_t too_old = 0;
    int pages = 0;
  };

  Scanned scan(ScanKind kind, int page_size = 100, Duration since = 1h) {
    ScanRequest request;
    request.kind = kind;
    request.page_size = page_size;
    const Instant now = await(control_.sample_clock()).value().database_now;
    request.became_due_since = saturating_add(now, -since);
    Scanned all;
    while (true) {
      const ScanPage page = await(orders_.scan(request)).value();
      for (const TrackedOrder& order : page.orders) all.ids.push_back(order.id);
      all.scanned += page.scanned;
      all.too_old += page.too_old;
      all.pages += 1;
      if (!page.next) return all;
      request.after = *page.next;
    }
  }
};

TEST_F(OrderScan, PagesThroughEveryPendingOrderOldestFirst) {
  for (int id = 1; id <= 7; ++id) place(id, 500 - 100 * (id / 3));
  place(8, 5);
  const Scanned all = scan(ScanKind::everything_pending, 2);
  EXPECT_THAT(all.ids, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(all.scanned, 8);
  EXPECT_EQ(all.pages, 5);
}

TEST_F(OrderScan, PagesThroughOrdersWithOddCreationTimes) {
  place(1, 1);
  place(2, 1);
  place(3, 1);
  shop_.exec("UPDATE t_order SET created_at = '-infinity' WHERE id = 3");
  shop_.exec("UPDATE t_order SET created_at = '0044-03-15 BC' WHERE id = 2");
  shop_.exec("UPDATE t_order SET created_at = 'infinity' WHERE id = 1");
  const Scanned all = scan(ScanKind::everything_pending, 1);
  EXPECT_EQ(all.scanned, 3);
  EXPECT_THAT(all.ids, ElementsAre(1));
  EXPECT_EQ(all.too_old, 2);
}

TEST_F(OrderScan, MarksOnlyWhatIsDue) {
  place(1, 69);
  place(2, 71);
  place(3, 5000);
  EXPECT_THAT(scan(ScanKind::everything_due).ids, ElementsAre(3, 2));
  EXPECT_THAT(scan(ScanKind::recently_due, 100, 60s).ids, ElementsAre(2));
}

TEST_F(OrderScan, CountsWhatIsTooOld) {
  place(1, 3'000'000);
  place(2, 100);
  for (const ScanKind kind : {ScanKind::everything_pending, ScanKind::everything_due}) {
    const Scanned all = scan(kind);
    EXPECT_THAT(all.ids, ElementsAre(2));
    EXPECT_EQ(all.too_old, 1);
  }
}

class OrderScanOfAnswered : public OrderScan {
 protected:
  OrderScanOfAnswered() {
    apply_rules(
        R"("shop":{"timeout_ms":60000,"grace_ms":10000,"action":"close","on_close":[]},
           "hotel":{"timeout_ms":60000,"grace_ms":10000,"action":"review","on_close":[]},
           "trial":{"timeout_ms":60000,"grace_ms":10000,"action":"shadow","on_close":[]},
           "never":{"timeout_ms":60000,"grace_ms":10000,"action":"ignore","on_close":[]})");
    for (int id = 1; id <= 4; ++id) place(id, 100 - id);
    place(5, 90, "hotel");
    place(6, 89, "trial");
    place(7, 88, "never");
    place(8, 87, "unlisted");
  }
};

TEST_F(OrderScanOfAnswered, TakesEachOnceUntilItIsAnswered) {
  for (const ScanKind kind : {ScanKind::everything_due, ScanKind::recently_due}) {
    EXPECT_THAT(scan(kind, 3).ids, ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

TEST_F(OrderScanOfAnswered, LeavesOutWhatWouldBeAnsweredAsBefore) {
  shop_.exec("INSERT INTO order_timeout.hold (order_id, reason, \"by\") VALUES (2, 'r', 'me')");
  shop_.exec(
      "INSERT INTO order_timeout.quarantine (order_id, reason, next_attempt_at) VALUES"
      " (3, 'failed', now() + interval '1 min'), (4, 'failed', now() - interval '1 min')");
  close_all("5,6");
  for (const ScanKind kind : {ScanKind::everything_due, ScanKind::recently_due}) {
    EXPECT_THAT(scan(kind, 3).ids, ElementsAre(1, 4));
  }
  // They may still be closed some day.
  EXPECT_THAT(scan(ScanKind::everything_pending).ids, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(OrderScan, FindsWhatBecameDueByAnOverride) {
  place(1, 9'000);
  place(2, 5);
  place(3, 9'000);
  shop_.exec(
      "INSERT INTO order_timeout.deadline_override (order_id, deadline, reason) VALUES"
      " (1, now() - interval '20 s', 'extended'), (2, now() - interval '20 s', 'shortened'),"
      " (3, now() + interval '20 s', 'extended')");
  EXPECT_THAT(scan(ScanKind::recently_due, 1, 60s).ids, ElementsAre(1, 2));
}

TEST_F(OrderScan, FindsNothingWithoutRules) {
  shop_.exec("DELETE FROM order_timeout.rule");
  place(1, 1'000);
  EXPECT_THAT(scan(ScanKind::recently_due).ids, IsEmpty());
  EXPECT_THAT(scan(ScanKind::everything_pending).ids, IsEmpty());
}

}  // namespace
}  // namespace order_timeout::postgres
