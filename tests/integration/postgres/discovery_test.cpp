// Proves that discovery finds every new order: one that commits late behind those already read,
// thousands with one and the same created_at, and whatever types the shop's columns have.
#include <set>

#include "integration/postgres/store_fixture.hpp"
#include "postgres/embedded_sql.hpp"
#include "postgres/migrations.hpp"

namespace order_timeout::postgres {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class Discovery : public StoreFixture {
 protected:
  Discovered discover(Instant watermark) { return await(orders_.discover(watermark)).value(); }
  Instant now() { return await(control_.sample_clock()).value().database_now; }

  static std::vector<OrderId> ids_of(const Discovered& found) {
    std::vector<OrderId> ids;
    for (const TrackedOrder& order : found.orders) ids.push_back(order.id);
    return ids;
  }
};

TEST_F(Discovery, FindsWhatWasCreatedSinceTheWatermarkWithItsDeadline) {
  place(1, 100);
  place(2, 30);
  shop_.exec("UPDATE t_order SET version = 7");
  const Instant due =
      instant_from_ms(std::stoll(shop_.value("SELECT order_timeout.epoch_ms(close_deadline) FROM "
                                             "order_timeout.timed_order WHERE id = 2")));
  const Discovered found = discover(saturating_add(now(), -60s));
  ASSERT_THAT(ids_of(found), ElementsAre(2));
  EXPECT_EQ(found.orders[0].due, due);
  EXPECT_EQ(found.orders[0].version, 7);
  EXPECT_TRUE(found.complete);
}

TEST_F(Discovery, LeavesOutWhatIsNotPendingOrNeverClosed) {
  apply_rules(
      R"("shop":{"timeout_ms":60000,"grace_ms":0,"action":"close","on_close":[]},
         "never":{"timeout_ms":60000,"grace_ms":0,"action":"ignore","on_close":[]})");
  place(1, 10);
  place(2, 10, "never");
  place(3, 10, "unlisted");
  place(4, 10);
  shop_.exec("UPDATE t_order SET status = 'PAID' WHERE id = 4");
  EXPECT_THAT(ids_of(discover(kAlways)), ElementsAre(1));
}

TEST_F(Discovery, FindsAnOrderThatCommitsBehindThoseAlreadyRead) {
  testing::Session late(server_.url(database_));
  late.begin();
  late.exec("INSERT INTO t_order (id, order_no, biz_line) VALUES (1, 'late', 'shop')");
  // Longer than the overlap that every discovery has.
  shop_.exec("SELECT pg_sleep(2.5)");
  place(2, 0);
  const Discovered first = discover(saturating_add(now(), -60s));
  EXPECT_THAT(ids_of(first), ElementsAre(2));
  late.commit();
  EXPECT_THAT(ids_of(discover(first.next_watermark)), Contains(1));
}

TEST_F(Discovery, FindsAnOrderOfAPreparedTransaction) {
  testing::Session late(server_.url(database_));
  late.begin();
  late.exec("INSERT INTO t_order (id, order_no, biz_line) VALUES (1, 'late', 'shop')");
  late.exec("PREPARE TRANSACTION '" + database_ + "'");
  shop_.exec("SELECT pg_sleep(2.5)");
  const Discovered first = discover(saturating_add(now(), -60s));
  EXPECT_THAT(ids_of(first), IsEmpty());
  late.exec("COMMIT PREPARED '" + database_ + "'");
  EXPECT_THAT(ids_of(discover(first.next_watermark)), Contains(1));
}

TEST_F(Discovery, FollowsTheClockWhereNothingRuns) {
  const Instant before = now();
  const Instant next = discover(saturating_add(before, -60s)).next_watermark;
  EXPECT_GE(next, saturating_add(before, -5s));
  EXPECT_LT(next, now());
}

TEST_F(Discovery, NeverMovesItsWatermarkBack) {
  const Instant ahead = saturating_add(now(), 60s);
  EXPECT_EQ(discover(ahead).next_watermark, ahead);
}

class DiscoveryOfThousands : public Discovery {
 protected:
  static constexpr std::size_t kOrders = 57'000;  // more than one call takes

  void place_all() {
    shop_.exec(
        "INSERT INTO t_order (id, order_no, biz_line) "
        "SELECT n, 'N' || n, 'shop' FROM generate_series(1, 57000) n");
  }
  // Goes on until the discovery is complete.
  Discovered discover_all(Instant watermark) {
    Discovered all = discover(watermark);
    while (!all.complete) {
      EXPECT_EQ(all.next_watermark, watermark);
      Discovered more = discover(watermark);
      more.orders.insert(more.orders.end(), all.orders.begin(), all.orders.end());
      all = std::move(more);
    }
    return all;
  }
};

TEST_F(DiscoveryOfThousands, WithOneCreationTimeReadsEachOnce) {
  place_all();
  const Instant watermark = saturating_add(now(), -60s);
  const Discovered first = discover(watermark);
  EXPECT_FALSE(first.complete);
  EXPECT_LE(first.orders.size(), 50'000U);
  const Discovered rest = discover_all(watermark);
  EXPECT_GT(rest.next_watermark, watermark);
  EXPECT_EQ(first.orders.size() + rest.orders.size(), kOrders);
  std::set<OrderId> ids;
  for (const auto* part : {&first, &rest}) {
    for (const TrackedOrder& order : part->orders) ids.insert(order.id);
  }
  EXPECT_EQ(ids.size(), kOrders);
}

TEST_F(DiscoveryOfThousands, KeepsTheWatermarkOfItsFirstPage) {
  testing::Session late(server_.url(database_));
  late.begin();
  late.exec("INSERT INTO t_order (id, order_no, biz_line) VALUES (60000, 'late', 'shop')");
  place_all();
  const Instant watermark = saturating_add(now(), -60s);
  ASSERT_FALSE(discover(watermark).complete);
  // Committed behind the pages that were read, and long ago for whoever asks now.
  late.commit();
  shop_.exec("SELECT pg_sleep(2.5)");
  const Discovered rest = discover_all(watermark);
  EXPECT_THAT(ids_of(rest), Not(Contains(60'000)));
  EXPECT_THAT(ids_of(discover_all(rest.next_watermark)), Contains(60'000));
}

// The shop's own types: int id, bigint order number, local timestamps.
class DiscoveryOfOtherTypes : public ::testing::Test {
 protected:
  DiscoveryOfOtherTypes() {
    shop_.exec(
        "CREATE TABLE orders (nr int PRIMARY KEY, number bigint UNIQUE, line varchar(20), state "
        "int,"
        " placed timestamp(6), pay_until timestamp)");
    shop_.exec("CREATE INDEX ON orders (placed, nr) WHERE state = 0");
    mapping_.name = "public.orders";
    mapping_.columns = {.id = "nr",
                        .order_no = "number",
                        .user_id = "",
                        .business_line = "line",
                        .status = "state",
                        .created_at = "placed",
                        .version = "",
                        .deadline = "pay_until",
                        .amount = "",
                        .closed_at = "",
                        .paid_at = ""};
    mapping_.pending = "0";
    mapping_.closed = "2";
    mapping_.paid = "1";
    mapping_.time_zone = "Asia/Shanghai";
    const auto made = migrate(server_.url(database_), mapping_, false);
    if (!made) throw std::runtime_error(made.error().detail);
    Config config;
    config.database.url = server_.url(database_, "order_timeout_daemon");
    config.order_table = mapping_;
    bulkhead_ = std::make_unique<Bulkhead>(loop_.get_executor(), config.database);
    orders_ = std::make_unique<OrderStore>(*bulkhead_, config);
    ControlStore control(*bulkhead_, config);
    RuleSet rules;
    rules.max_age = 720h;
    rules.lines["default"] = BusinessLine{};
    test::run_on(loop_, control.apply_rules(rules)).value();
    now_ = test::run_on(loop_, control.sample_clock()).value().database_now;
  }

  void place(int nr, int seconds_ago, const std::string& pay_until = "NULL") {
    shop_.exec("INSERT INTO orders SELECT " + std::to_string(nr) + ", 90000000000 + " +
               std::to_string(nr) +
               ", 'x', 0, now() AT TIME ZONE 'Asia/Shanghai' - interval '1 s' * " +
               std::to_string(seconds_ago) + ", " + pay_until);
  }
  template <class T>
  T await(Awaitable<T> work) {
    return test::run_on(loop_, std::move(work)).value();
  }
  std::vector<OrderId> scan(ScanKind kind, int page_size = 2) {
    ScanRequest request;
    request.kind = kind;
    request.page_size = page_size;
    request.became_due_since = saturating_add(now_, -1h);
    std::vector<OrderId> ids;
    while (true) {
      const ScanPage page = await(orders_->scan(request));
      for (const TrackedOrder& order : page.orders) ids.push_back(order.id);
      if (!page.next) return ids;
      request.after = *page.next;
    }
  }

  testing::PostgresServer& server_ = testing::PostgresServer::shared();
  std::string database_ = server_.new_empty_database();
  testing::Session shop_{server_.url(database_)};
  OrderTableConfig mapping_;
  asio::io_context loop_;
  std::unique_ptr<Bulkhead> bulkhead_;
  std::unique_ptr<OrderStore> orders_;
  Instant now_{};
};

TEST_F(DiscoveryOfOtherTypes, FindsNewOrders) {
  place(1, 100);
  place(2, 10);
  const Discovered found = await(orders_->discover(saturating_add(now_, -60s)));
  ASSERT_EQ(found.orders.size(), 1U);
  EXPECT_EQ(found.orders[0].id, 2);
  const Duration until_due = saturating_sub(found.orders[0].due, now_);
  EXPECT_NEAR(static_cast<double>(until_due.count()), (30 * 60 + 60 - 10) * 1000.0, 5'000.0);
}

TEST_F(DiscoveryOfOtherTypes, ScansInPages) {
  for (int nr = 1; nr <= 7; ++nr) place(nr, 2'000 - nr / 2);
  place(8, 10);
  EXPECT_THAT(scan(ScanKind::everything_pending), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(scan(ScanKind::everything_due), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(scan(ScanKind::recently_due), ElementsAre(1, 2, 3, 4, 5, 6, 7));
}

TEST_F(DiscoveryOfOtherTypes, FindsOrdersThatBecameDueByTheirOwnDeadline) {
  place(1, 30'000, "now() AT TIME ZONE 'Asia/Shanghai' - interval '10 minutes'");
  place(2, 10, "now() AT TIME ZONE 'Asia/Shanghai' - interval '5 minutes'");
  place(3, 30'000, "now() AT TIME ZONE 'Asia/Shanghai' + interval '5 minutes'");
  EXPECT_THAT(scan(ScanKind::recently_due, 1), ElementsAre(1, 2));
}

TEST_F(DiscoveryOfOtherTypes, ResolvesNumbersAndPassesOverWhatIsNone) {
  place(1, 10);
  const auto resolved = await(orders_->resolve(
      {"90000000001", "x", "", "-90000000001", "090000000001", "99999999999999999999",
       "9223372036854775808", "9223372036854775807", std::string("9\0", 2), "\xff"}));
  ASSERT_EQ(resolved.size(), 10U);
  EXPECT_TRUE(resolved[0].pending);
  EXPECT_EQ(resolved[0].order.id, 1);
  for (std::size_t i = 1; i < resolved.size(); ++i) EXPECT_FALSE(resolved[i].found) << i;
}

TEST_F(DiscoveryOfOtherTypes, UsesTheShopsIndexes) {
  shop_.exec(
      "INSERT INTO orders SELECT n, n, 'x', CASE WHEN n % 10 = 0 THEN 0 ELSE 1 END,"
      " now() AT TIME ZONE 'Asia/Shanghai' - n * interval '1 s' FROM generate_series(1, 50000) n");
  shop_.exec("ANALYZE orders");
  const std::vector<std::pair<std::string, std::string>> statements{
      {"discover_orders", "1000, '-infinity', 0, 100"},
      {"scan_pending", "'2026-01-01', 5, 100"},
      {"scan_due", "'2026-01-01', 5, 100"},
      {"scan_recently_due", std::to_string(to_ms(now_) - 60'000) + ", '-infinity', 0, 100"},
      {"resolve_order_nos", "'{5,7}'"},
      {"resolve_order_ids", "'{5,7}'"},
      {"order_names", "'{5,7}'"}};
  for (const auto& [name, values] : statements) {
    shop_.exec("PREPARE asked AS " + std::string(embedded_sql("queries/" + name + ".sql")));
    std::string plan;
    for (const auto& row : shop_.rows("EXPLAIN EXECUTE asked(" + values + ")")) {
      plan += row[0].value_or("") + '\n';
    }
    EXPECT_THAT(plan, Not(::testing::HasSubstr("Seq Scan on orders"))) << name;
    shop_.exec("DEALLOCATE asked");
  }
}

TEST(DiscoveryWithoutStatistics, ReadsAFixedOverlapAgain) {
  testing::PostgresServer::Options options;
  options.fsync = false;
  testing::PostgresServer server(options);
  const std::string database = server.new_database();
  testing::Session owner(server.url(database));
  owner.exec("REVOKE pg_read_all_stats FROM order_timeout_owner");
  const Config config = config_for(server.url(database, "order_timeout_daemon"));
  asio::io_context loop;
  Bulkhead bulkhead(loop.get_executor(), config.database);
  OrderStore orders(bulkhead, config);
  const Instant now = instant_from_ms(
      std::stoll(owner.value("SELECT floor(extract(epoch FROM now()) * 1000)::bigint")));
  const auto found = test::run_on(loop, orders.discover(saturating_add(now, -10min))).value();
  const Duration overlap = saturating_sub(now, found.next_watermark);
  EXPECT_GT(overlap, 25s);
  EXPECT_LE(overlap, 32s);
}

}  // namespace
}  // namespace order_timeout::postgres
