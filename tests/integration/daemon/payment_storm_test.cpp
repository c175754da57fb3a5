// Proves that money and closing never both win, whatever way a shop takes payments: clients pay
// around deadline + grace by a plain update, by pay_order, by a payment row alone and in
// transactions that stay open for long; a fifth of the orders nobody pays. With a foreign key from
// the payments to the orders no order is closed after a payment has committed; without one such a
// payment is a late one. Either way each late payment gets its one refund. Judged from a history
// written by a trigger, the clients' own notes and commit timestamps. ORDER_TIMEOUT_FULL=1 (set by
// tests/run.sh --full) takes 500 clients and 50,000 orders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "integration/daemon/paying_client.hpp"
#include "support/daemon_process.hpp"
#include "support/shop_fixture.hpp"

namespace order_timeout::testing {
namespace {

using namespace std::chrono_literals;

struct Size {
  int clients = 40;
  int orders = 1'200;
  int seconds = 8;
  std::chrono::milliseconds patience = 90s;
};

Size size_of_storm() {
  const char* full = std::getenv("ORDER_TIMEOUT_FULL");
  if (full == nullptr || std::string(full) != "1") return {};
  return {.clients = 500, .orders = 50'000, .seconds = 150, .patience = 600s};
}

constexpr std::chrono::milliseconds kEarliest = -150ms;
constexpr std::chrono::milliseconds kLatest = 250ms;
constexpr auto kLong = 300ms;  // how long a slow transaction stays open

// A timeout of 2 s and a grace of 1 s.
const std::string kDue = "o.created_at + interval '3 seconds'";

enum class Way : int { update, pay_order, row_only, long_open };

class Client : public PayingClient {
 public:
  Client(const std::string& url, Way way) : PayingClient(url), way_(way) {}

  Way way() const { return way_; }

 private:
  bool pay(std::int64_t id) override {
    if (way_ == Way::long_open) return pay_slowly(id);
    pqxx::nontransaction work(connection_);
    if (way_ == Way::update) return work.exec_params(kUpdate, id).affected_rows() == 1;
    if (way_ == Way::row_only) return work.exec_params(kRow, id).affected_rows() != 1;
    return work.exec_params(kPayOrder, id)[0][0].as<std::string>() == "PAID";
  }

  // Writes the payment, talks to somebody for a while, sets the status, keeps the payment anyway.
  bool pay_slowly(std::int64_t id) {
    pqxx::work work(connection_);
    work.exec_params(kRow, id);
    await_moment(std::chrono::system_clock::now() + kLong);
    const bool taken = work.exec_params(kUpdate, id).affected_rows() == 1;
    work.commit();
    return taken;
  }

  inline static const std::string kUpdate =
      "UPDATE t_order SET status = 'PAID', version = version + 1 WHERE id = $1 AND status = "
      "'WAIT_PAY'";
  inline static const std::string kRow =
      "INSERT INTO t_payment VALUES ('P' || $1::bigint, $1::bigint, 'SUCCESS', 990)";
  inline static const std::string kPayOrder =
      "SELECT order_timeout.pay_order($1::bigint, 'Q' || $1::bigint, 990)";

  Way way_;
};

PostgresServer& roomy_server() {
  static PostgresServer server({.fsync = false, .max_connections = size_of_storm().clients + 50});
  return server;
}

class PaymentStorm : public ShopFixture, public ::testing::WithParamInterface<bool> {
 protected:
  PaymentStorm() : ShopFixture(roomy_server()) {
    if (!GetParam()) shop_.exec("alter table t_payment drop constraint t_payment_order_id_fkey");
    shop_.exec("create table t_attempt (order_id bigint primary key, way int, taken boolean)");
  }

  void storm();
  void bill_orders();
  void note_attempts();
  void await_the_end();
  void expect_none(const std::string& from_where, const std::string& what) {
    EXPECT_EQ(count(from_where), 0) << what;
  }

  const Size size_ = size_of_storm();
  std::vector<std::unique_ptr<Client>> clients_;
  DaemonProcess daemon_{{.database_url = url(),
                         .lines = {{"default", "{timeout: 2s, grace: 1s}"}},
                         .extra = "log: {level: error}"}};
};

void PaymentStorm::storm() {
  daemon_.start();
  ASSERT_TRUE(daemon_.await_ready());
  for (int i = 0; i < size_.clients; ++i) {
    clients_.push_back(std::make_unique<Client>(server_.url(database_), static_cast<Way>(i % 4)));
  }
  bill_orders();
  std::vector<std::jthread> threads;
  for (const auto& client : clients_) threads.emplace_back([&] { client->pay_all(); });
  threads.clear();  // joined
  note_attempts();
}

// The first orders come due some seconds from now; every fifth is nobody's.
void PaymentStorm::bill_orders() {
  const PlacedOrders placed =
      place_orders(size_.orders, "default",
                   "now() + interval '3 seconds' + n * interval '1 second' * " +
                       std::to_string(size_.seconds) + " / " + std::to_string(size_.orders));
  const Rows rows = shop_.rows(
      "select o.id, (extract(epoch from " + kDue +
      ") * 1000000)::bigint from t_order o where o.id >= " + std::to_string(placed.first) +
      " and o.id % 5 <> 0 order by o.created_at, o.id");
  std::mt19937 random(4711);
  std::uniform_int_distribution<std::int64_t> offset_us(
      std::chrono::microseconds(kEarliest).count(), std::chrono::microseconds(kLatest).count());
  std::size_t next = 0;
  for (const Row& row : rows) {
    const std::chrono::microseconds at(std::stoll(row.at(1).value()) + offset_us(random));
    clients_[next++ % clients_.size()]->owe(
        {.order_id = std::stoll(row.at(0).value()), .pay_at = Moment(at)});
  }
}

void PaymentStorm::note_attempts() {
  std::string values;
  for (const auto& client : clients_) {
    EXPECT_EQ(client->trouble(), "");
    for (const Bill& bill : client->bills()) {
      values += (values.empty() ? "(" : ", (") + std::to_string(bill.order_id) + ", " +
                std::to_string(static_cast<int>(client->way())) +
                (bill.taken ? ", true)" : ", false)");
    }
  }
  shop_.exec("insert into t_attempt values " + values);
}

// What waits for payment is held for the payment it has, and every event is delivered or, a refund,
// waits.
void PaymentStorm::await_the_end() {
  EXPECT_TRUE(
      await_count("t_order o where o.status = 'WAIT_PAY' and not exists (select from "
                  "order_timeout.hold h where h.order_id = o.id)",
                  0, size_.patience));
  EXPECT_TRUE(await_count(
      "t_payment p join t_order o on o.id = p.order_id where o.status = 'CLOSED' and not exists "
      "(select from order_timeout.outbox e where e.event_key = p.order_id || ':REFUND:' || "
      "p.payment_id)",
      0, size_.patience))
      << "late payments without a refund";
  EXPECT_TRUE(await_released(count("t_order where status = 'CLOSED'"), size_.patience));
}

TEST_P(PaymentStorm, PaymentAndCloseNeverBothWinAndNoLatePaymentIsKept) {
  ASSERT_NO_FATAL_FAILURE(storm());
  await_the_end();
  expect_none(
      "t_attempt a join t_order o on o.id = a.order_id where a.way <> 2 and a.taken <> "
      "(o.status = 'PAID')",
      "not what the client was answered");
  expect_none("(select order_id from t_order_history group by 1 having count(*) > 1) h",
              "moved more than once");
  expect_none(
      "t_order o where o.status <> 'CLOSED' and not exists (select from t_attempt a where "
      "a.order_id = o.id)",
      "unpaid and not closed");
  expect_none(
      "t_order o where o.status = 'WAIT_PAY' and not exists (select from t_payment p where "
      "p.order_id = o.id)",
      "held without a payment");
  // Each payment, as a row or told to pay_order, goes back exactly where its order is closed.
  const std::string payments =
      "(select order_id, payment_id from t_payment union all select order_id, 'Q' || order_id from "
      "t_attempt where way = 1) p join t_order o on o.id = p.order_id";
  const std::string refund =
      "(select e.event_key from order_timeout.outbox e where e.event_type = 'REFUND') r";
  expect_none(payments + " left join " + refund +
                  " on r.event_key = p.order_id || ':REFUND:' || p.payment_id"
                  " where (o.status = 'CLOSED') <> (r.event_key is not null)",
              "a late payment kept, or one refunded that was not late");
  expect_none(
      "(select event_key from order_timeout.outbox where event_type = 'REFUND' group by 1 "
      "having count(*) > 1) e",
      "refunded twice");
  EXPECT_EQ(count(refund), count(payments + " where o.status = 'CLOSED'"));
  const std::int64_t after_payment = count(
      "t_order_history h join t_payment p on p.order_id = h.order_id where h.new_status = 'CLOSED' "
      "and pg_xact_commit_timestamp(h.xmin) >= pg_xact_commit_timestamp(p.xmin)");
  if (GetParam()) {
    EXPECT_EQ(after_payment, 0) << "closed after a committed payment";
  }
  expect_books_balance(kDue);

  const std::int64_t closed = count("t_order where status = 'CLOSED'");
  const std::int64_t paid = count("t_order where status <> 'CLOSED'");
  std::printf(
      "paid or held: %lld, closed: %lld, refunds: %lld, closed after a payment: %lld; "
      "closed late by p50 %.0f ms, p99 %.0f ms\n",
      static_cast<long long>(paid), static_cast<long long>(closed),
      static_cast<long long>(count(refund)), static_cast<long long>(after_payment),
      lateness(kDue).p50_ms, lateness(kDue).p99_ms);
  EXPECT_GE(paid * 5, size_.orders) << "too few payments won";
  EXPECT_GE(closed * 5, size_.orders) << "too few closes won";
  EXPECT_EQ(daemon_.terminate(), 0);
}

INSTANTIATE_TEST_SUITE_P(ForeignKey, PaymentStorm, ::testing::Bool(), [](const auto& kind) {
  return std::string(kind.param ? "WithAForeignKey" : "WithoutAForeignKey");
});

}  // namespace
}  // namespace order_timeout::testing
