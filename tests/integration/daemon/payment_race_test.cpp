// Proves that a payment and the close of the same order never both win: 200 customers on their own
// connections pay within 50 ms of the instant from which their orders may be closed. Judged from a
// history written by a trigger, from the answers the customers got and from commit timestamps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
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

constexpr int kCustomers = 200;
constexpr int kOrdersEach = 8;
constexpr int kOrders = kCustomers * kOrdersEach;
constexpr std::chrono::milliseconds kWindow = 50ms;  // before and after the due instant
// The first ones: a close comes some milliseconds after the due instant, more on a busy machine,
// and both are to win often.
constexpr std::chrono::milliseconds kEarliest = -35ms;

// A timeout of 2 s and a grace of 1 s. From 5 s on, 20 orders each 125 ms.
const std::string kDue = "o.created_at + interval '3 seconds'";
const std::string kCreatedAt =
    "now() + interval '2 seconds' + (n / 20) * interval '125 milliseconds'";

const std::string kPay =
    "UPDATE t_order SET status = 'PAID', version = version + 1, paid_at = now()"
    " WHERE id = $1 AND status = 'WAIT_PAY'";
const std::string kRecord =
    "INSERT INTO t_payment (payment_id, order_id, status, amount_cents)"
    " VALUES ('P' || $1::bigint, $1::bigint, 'SUCCESS', 990)";

// How the shop takes a payment.
enum class Way { status_only, status_and_row, row_only };

class Customer : public PayingClient {
 public:
  Customer(const std::string& url, Way way) : PayingClient(url), way_(way) {}

 private:
  bool pay(std::int64_t id) override {
    if (way_ == Way::status_and_row) return pay_in_one_transaction(id);
    pqxx::nontransaction work(connection_);
    return work.exec_params(way_ == Way::status_only ? kPay : kRecord, id).affected_rows() == 1;
  }

  // Some shops write the row first, others the status.
  bool pay_in_one_transaction(std::int64_t id) {
    const bool row_first = id % 2 == 0;
    pqxx::work work(connection_);
    if (row_first) work.exec_params(kRecord, id);
    if (work.exec_params(kPay, id).affected_rows() != 1) return false;
    if (!row_first) work.exec_params(kRecord, id);
    work.commit();
    return true;
  }

  Way way_;
};

PostgresServer& roomy_server() {
  static PostgresServer server({.fsync = false, .max_connections = kCustomers + 50});
  return server;
}

class PaymentRace : public ShopFixture {
 protected:
  PaymentRace() : ShopFixture(roomy_server()) {
    shop_.exec(
        "create table t_attempt (order_id bigint primary key, sent_at timestamptz not null,"
        " taken boolean not null)");
  }

  void race(Way way);
  void bill_orders(std::vector<std::unique_ptr<Customer>>& customers);
  void note_attempts(const std::vector<std::unique_ptr<Customer>>& customers);
  void expect_a_race(const std::string& paid);
  void expect_answers_hold();

  void expect_none(const std::string& from_where, const std::string& what) {
    EXPECT_EQ(count(from_where), 0) << what;
  }

  DaemonProcess daemon_{{.database_url = url(),
                         .lines = {{"default", "{timeout: 2s, grace: 1s}"}},
                         .extra = "log: {level: warn}"}};
};

void PaymentRace::race(Way way) {
  daemon_.start();
  ASSERT_TRUE(daemon_.await_ready());
  std::vector<std::unique_ptr<Customer>> customers;
  for (int i = 0; i < kCustomers; ++i) {
    customers.push_back(std::make_unique<Customer>(server_.url(database_), way));
  }
  bill_orders(customers);
  std::vector<std::jthread> threads;
  for (const auto& customer : customers) threads.emplace_back([&] { customer->pay_all(); });
  threads.clear();  // joined
  note_attempts(customers);
}

void PaymentRace::bill_orders(std::vector<std::unique_ptr<Customer>>& customers) {
  const PlacedOrders placed = place_orders(kOrders, "default", kCreatedAt);
  const Rows rows = shop_.rows("select o.id, (extract(epoch from " + kDue +
                               ") * 1000000)::bigint from t_order o where o.id >= " +
                               std::to_string(placed.first) + " order by o.created_at, o.id");
  std::mt19937 random(4711);
  std::uniform_int_distribution<std::int64_t> offset_us(
      std::chrono::microseconds(kEarliest).count(), std::chrono::microseconds(kWindow).count());
  std::size_t next = 0;
  for (const Row& row : rows) {
    const std::chrono::microseconds due(std::stoll(row.at(1).value()) + offset_us(random));
    customers[next++ % customers.size()]->owe(
        {.order_id = std::stoll(row.at(0).value()), .pay_at = Moment(due)});
  }
}

void PaymentRace::note_attempts(const std::vector<std::unique_ptr<Customer>>& customers) {
  std::string values;
  for (const auto& customer : customers) {
    EXPECT_EQ(customer->trouble(), "");
    for (const Bill& bill : customer->bills()) {
      const auto sent =
          std::chrono::duration_cast<std::chrono::microseconds>(bill.sent_at.time_since_epoch());
      values += (values.empty() ? "(" : ", (") + std::to_string(bill.order_id) + ", to_timestamp(" +
                std::to_string(sent.count()) + " / 1e6), " + (bill.taken ? "true)" : "false)");
    }
  }
  shop_.exec("insert into t_attempt values " + values);
  ASSERT_EQ(count("t_attempt"), kOrders);
}

// `paid` is a condition over t_order o. Payments sent out of the window, by a machine too busy to
// wake their customers in time, count for the books but not for the race.
void PaymentRace::expect_a_race(const std::string& paid) {
  const std::string raced =
      "t_attempt a join t_order o on o.id = a.order_id where abs(extract("
      "epoch from a.sent_at - (" +
      kDue + "))) <= " + std::to_string(kWindow.count()) + " / 1000.0";
  const std::int64_t all = count(raced);
  const std::int64_t won = count(raced + " and " + paid);
  const std::int64_t lost = count(raced + " and o.status = 'CLOSED'");
  const Lateness late = lateness(kDue);
  std::printf(
      "payments in the window: %lld, paid: %lld, closed: %lld; closed late by p50 %.0f ms,"
      " p99 %.0f ms\n",
      static_cast<long long>(all), static_cast<long long>(won), static_cast<long long>(lost),
      late.p50_ms, late.p99_ms);
  EXPECT_GE(all, kOrders / 2);
  EXPECT_GE(won * 5, all) << "too few payments won for a race";
  EXPECT_GE(lost * 5, all) << "too few closes won for a race";
}

void PaymentRace::expect_answers_hold() {
  expect_none(
      "t_attempt a join t_order o on o.id = a.order_id where o.status <>"
      " case when a.taken then 'PAID' else 'CLOSED' end",
      "not what the customer was answered");
  expect_none(
      "t_attempt a where (select string_agg(h.old_status || '>' || h.new_status, ' ')"
      " from t_order_history h where h.order_id = a.order_id) is distinct from"
      " case when a.taken then 'WAIT_PAY>PAID' else 'WAIT_PAY>CLOSED' end",
      "closed after a payment, paid after a close, or neither");
}

TEST_F(PaymentRace, EitherThePaymentOrTheCloseWins) {
  ASSERT_NO_FATAL_FAILURE(race(Way::status_only));
  ASSERT_TRUE(await_count("t_order where status = 'WAIT_PAY'", 0));
  expect_answers_hold();
  expect_a_race("o.status = 'PAID'");
  EXPECT_TRUE(await_released(count("t_order where status = 'CLOSED'")));
  expect_books_balance(kDue);
  EXPECT_EQ(daemon_.terminate(), 0);
}

TEST_F(PaymentRace, APaymentRowOfTheSameTransactionSharesItsFate) {
  ASSERT_NO_FATAL_FAILURE(race(Way::status_and_row));
  ASSERT_TRUE(await_count("t_order where status = 'WAIT_PAY'", 0));
  expect_answers_hold();
  expect_none(
      "t_attempt a left join t_payment p on p.order_id = a.order_id"
      " where a.taken <> (p.payment_id is not null)",
      "a payment row without its payment or a payment without its row");
  expect_a_race("o.status = 'PAID'");
  EXPECT_TRUE(await_released(count("t_order where status = 'CLOSED'")));
  expect_books_balance(kDue);
  EXPECT_EQ(daemon_.terminate(), 0);
}

TEST_F(PaymentRace, ACommittedPaymentRowAloneHoldsItsOrder) {
  const std::string held =
      "t_order o join order_timeout.hold h on h.order_id = o.id and h.by = 'payment_evidence'"
      " where o.status = 'WAIT_PAY'";
  ASSERT_NO_FATAL_FAILURE(race(Way::row_only));
  ASSERT_TRUE(await([&] { return count("t_order where status = 'WAIT_PAY'") == count(held); }))
      << "paid orders are not held";
  const std::int64_t sweeps = count("order_timeout.sweep_run where status = 'SUCCESS'");
  ASSERT_TRUE(await(
      [&] { return count("order_timeout.sweep_run where status = 'SUCCESS'") > sweeps + 1; }));
  EXPECT_EQ(count("t_attempt where taken"), kOrders);
  EXPECT_EQ(count("t_payment"), kOrders);
  expect_none(
      "t_order_history h join t_payment p on p.order_id = h.order_id"
      " where pg_xact_commit_timestamp(h.xmin) >= pg_xact_commit_timestamp(p.xmin)",
      "closed after a committed payment");
  expect_a_race("o.status = 'WAIT_PAY'");
  EXPECT_TRUE(await_released(count("t_order where status = 'CLOSED'")));
  expect_books_balance(kDue);
  EXPECT_EQ(daemon_.terminate(), 0);
}

}  // namespace
}  // namespace order_timeout::testing
