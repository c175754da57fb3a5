// Proves that the stock is exact in the end, whatever the stock service does: down for half a
// minute, slow, losing answers to calls that took effect. Orders close on time meanwhile, no event
// is given up, and each attempt of an event carries the same key.
#include "integration/daemon/fault_fixture.hpp"
#include "support/stock_service.hpp"

namespace order_timeout::testing {
namespace {

using namespace std::chrono_literals;
using stock::FaultKind;

constexpr auto kDown = 30s;
constexpr auto kReadTimeout = 500ms;
constexpr auto kSlow = 900ms;  // takes effect after we gave up on the answer, and tried again

class StockFaults : public FaultFixture {
 protected:
  void SetUp() override {
    daemon_.start();
    ASSERT_TRUE(daemon_.await_ready());
    keep_ordering(1s);
  }

  void strike(FaultKind kind, int every = 1) {
    stock::Fault fault;
    fault.kind = kind;
    fault.every = every;
    fault.delay = kSlow;
    service_.set_fault(fault);
  }

  std::int64_t undelivered() { return count("order_timeout.outbox where status <> 'SUCCESS'"); }

  stock::StockService service_{{.database_url = server_.url(database_)}};
  DaemonProcess daemon_{
      {.database_url = url(),
       .release_stock = "{sink: http, url: \"" + service_.url() +
                        "\", read_timeout: " + std::to_string(kReadTimeout.count()) + "ms}",
       // As many attempts as by default: an outage alone must not use them up.
       .extra = "outbox: {backoff: [100ms, 200ms, 500ms, 1s], max_attempts: 10}"}};
};

TEST_F(StockFaults, LeaveTheStockExactAndClosingOnTime) {
  strike(FaultKind::down);
  keep_ordering(kDown);
  const Lateness meanwhile = lateness();
  EXPECT_GT(meanwhile.closed, 1'000);
  EXPECT_LE(meanwhile.p99_ms, 1'000);
  EXPECT_GT(undelivered(), 1'000) << "the service was not down";

  strike(FaultKind::slow, 3);
  keep_ordering(8s);
  strike(FaultKind::lose_answer, 3);
  keep_ordering(8s);
  EXPECT_GE(service_.totals().repeated_keys, 50);
  service_.clear_fault();

  ASSERT_TRUE(await_all_closed());
  EXPECT_TRUE(await([&] { return undelivered() == 0; })) << undelivered() << " undelivered";
  EXPECT_EQ(count("order_timeout.outbox where status = 'DEAD'"), 0);
  expect_books_balance();
  EXPECT_LE(lateness().p99_ms, 1'000);

  EXPECT_EQ(count("t_stock_call c where not exists (select from order_timeout.outbox e"
                  " where e.event_key = c.idempotency_key)"),
            0)
      << "called with a key that is no event's";
  EXPECT_EQ(count("t_stock_call c join t_order_history h on h.new_status = 'CLOSED'"
                  " and c.idempotency_key = h.order_id || ':RELEASE_STOCK'"
                  " where c.at < pg_xact_commit_timestamp(h.xmin)"),
            0)
      << "called before the close was committed";
  EXPECT_GT(count("t_stock_call where answer = 'lose_answer'"), 50);
  EXPECT_EQ(daemon_.terminate(), 0);
}

TEST_F(StockFaults, AreOneLineInTheLogWhenItGoesAndOneWhenItComesBack) {
  strike(FaultKind::down);
  keep_ordering(5s);
  service_.clear_fault();
  ASSERT_TRUE(daemon_.await_log("sink:release_stock: up again"));
  keep_ordering(2s);
  EXPECT_EQ(times("sink:release_stock: down", daemon_.log_text()), 1);
  EXPECT_EQ(times("sink:release_stock: up again", daemon_.log_text()), 1);
  ASSERT_TRUE(await_all_closed());
  EXPECT_TRUE(await([&] { return undelivered() == 0; }));
  expect_books_balance();
  EXPECT_EQ(daemon_.terminate(), 0);
}

}  // namespace
}  // namespace order_timeout::testing
