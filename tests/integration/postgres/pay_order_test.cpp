// Proves what pay_order promises a shop: each answer in its case, clear errors, one REFUND event a
// late payment, and, with payers and closers on the same orders at once, that exactly one of paid
// and closed wins, judged from a history written by a trigger.
#include <random>
#include <thread>

#include "support/close_fixture.hpp"

namespace order_timeout::testing {
namespace {

class PayOrder : public CloseFixture {
 protected:
  std::string pay(Session& session, int order, const std::string& payment,
                  const std::string& amount = "1990") {
    return session.value("SELECT order_timeout.pay_order(" + std::to_string(order) + ", '" +
                         payment + "', " + amount + ")");
  }
  std::string pay(int order, const std::string& payment, const std::string& amount = "1990") {
    return pay(shop_, order, payment, amount);
  }

  std::string refunds() {
    return shop_.value(
        "SELECT coalesce(string_agg(event_key || ' ' || status, ';' ORDER BY event_key), '') "
        "FROM order_timeout.outbox WHERE event_type = 'REFUND'");
  }
  std::string notices() {
    return shop_.value(
        "SELECT coalesce(string_agg(order_id || ' ' || kind, ';' ORDER BY id), '') "
        "FROM order_timeout.notice");
  }
  std::string recorded() {
    return shop_.value(
        "SELECT coalesce(string_agg(payment_id || ' ' || outcome || ' ' || amount, ';' ORDER BY "
        "payment_id), '') FROM order_timeout.payment");
  }
  void expect_refused(const std::string& arguments, const std::string& sqlstate,
                      const std::string& words) {
    const auto error = shop_.refused("SELECT order_timeout.pay_order(" + arguments + ")");
    ASSERT_TRUE(error) << arguments;
    EXPECT_EQ(error->sqlstate, sqlstate) << error->message;
    EXPECT_THAT(error->message, ::testing::HasSubstr(words));
  }
};

TEST_F(PayOrder, PaysAPendingOrder) {
  place(1, 0);
  EXPECT_EQ(pay(1, "P1"), "PAID");
  EXPECT_EQ(shop_.value("SELECT status || ' ' || version || ' ' || (paid_at IS NOT NULL) FROM "
                        "t_order"),
            "PAID 1 true");
  EXPECT_EQ(recorded(), "P1 PAID 1990");
  EXPECT_EQ(refunds(), "");
  EXPECT_EQ(notices(), "");
}

TEST_F(PayOrder, KeepsThePaidAtThatTheShopWrote) {
  place(1, 0);
  shop_.exec("UPDATE t_order SET paid_at = '2026-01-02 03:04:05+00'");
  EXPECT_EQ(pay(1, "P1"), "PAID");
  EXPECT_EQ(shop_.value("SELECT paid_at = '2026-01-02 03:04:05+00' FROM t_order"), "t");
}

TEST_F(PayOrder, TheSamePaymentAgainIsAlreadyPaid) {
  place(1, 0);
  pay(1, "P1");
  EXPECT_EQ(pay(1, "P1"), "ALREADY_PAID");
  EXPECT_EQ(pay(1, "P1", "5"), "ALREADY_PAID");
  EXPECT_EQ(shop_.value("SELECT version FROM t_order"), "1");
  EXPECT_EQ(recorded(), "P1 PAID 1990");
}

TEST_F(PayOrder, AnotherPaymentOfAPaidOrderIsRefundedOnce) {
  place(1, 0);
  pay(1, "P1");
  EXPECT_EQ(pay(1, "P2", "700"), "REFUND");
  EXPECT_EQ(pay(1, "P2", "700"), "REFUND");
  EXPECT_EQ(refunds(), "1:REFUND:P2 PENDING");
  EXPECT_EQ(status_of(1), "PAID");
}

TEST_F(PayOrder, EachPaymentAfterTheCloseIsRefundedOnce) {
  place(1, 71);
  ASSERT_EQ(outcome(1), "closed");
  EXPECT_EQ(pay(1, "P1"), "REFUND");
  EXPECT_EQ(pay(1, "P1"), "REFUND");
  EXPECT_EQ(pay(1, "P2"), "REFUND");
  EXPECT_EQ(refunds(), "1:REFUND:P1 PENDING;1:REFUND:P2 PENDING");
  EXPECT_EQ(notices(), "1 refund;1 refund");
  EXPECT_EQ(status_of(1), "CLOSED");
  EXPECT_EQ(count("order_timeout.outbox WHERE event_type = 'RELEASE_STOCK'"), 1);
}

TEST_F(PayOrder, ARefundEventSaysWhatToGiveBack) {
  place(1, 71);
  close(1);
  pay(1, "P1", "12.50");
  EXPECT_EQ(shop_.value("SELECT payload - 'closed_at' FROM order_timeout.outbox WHERE event_type = "
                        "'REFUND'"),
            R"({"amount": 12.50, "reason": "paid after the close", "user_id": 7, )"
            R"("order_id": 1, "order_no": "N1", "payment_id": "P1", "business_line": "shop"})");
  EXPECT_EQ(shop_.value("SELECT payload ->> 'closed_at' = order_timeout.rfc3339(closed_at) FROM "
                        "order_timeout.outbox, t_order WHERE event_type = 'REFUND'"),
            "t");
}

TEST_F(PayOrder, ARefundStaysOneWhenItsEventHasBeenRetired) {
  place(1, 71);
  close(1);
  pay(1, "P1");
  shop_.exec(
      "UPDATE order_timeout.outbox SET status = 'SUCCESS', finished_at = now() - interval '8 "
      "days'");
  shop_.exec("SELECT order_timeout.retire_events('7 days', 100)");
  ASSERT_EQ(refunds(), "");
  EXPECT_EQ(pay(1, "P1"), "REFUND");
  EXPECT_EQ(refunds(), "");
}

TEST_F(PayOrder, APaidOrLaterStatusWithoutARecordedPaymentIsUnknown) {
  place(1, 0);
  place(2, 0);
  shop_.exec("UPDATE t_order SET status = CASE id WHEN 1 THEN 'PAID' ELSE 'SHIPPED' END");
  EXPECT_EQ(pay(1, "P1"), "UNKNOWN_PAYMENT");
  EXPECT_EQ(pay(1, "P1"), "UNKNOWN_PAYMENT");
  EXPECT_EQ(pay(2, "P2"), "UNKNOWN_PAYMENT");
  EXPECT_EQ(refunds(), "");
  EXPECT_EQ(notices(), "1 unknown_payment;2 unknown_payment");
}

TEST_F(PayOrder, AnUnknownPaymentIsDecidedWhenTheOrderSaysMore) {
  place(1, 0);
  shop_.exec("UPDATE t_order SET status = 'CHECKING'");
  EXPECT_EQ(pay(1, "P1"), "UNKNOWN_PAYMENT");
  shop_.exec("UPDATE t_order SET status = 'WAIT_PAY'");
  EXPECT_EQ(pay(1, "P1"), "PAID");
  EXPECT_EQ(recorded(), "P1 PAID 1990");
}

TEST_F(PayOrder, ADifferentAmountIsRecordedAndNeverDecides) {
  place(1, 0);
  place(2, 71);
  close(2);
  EXPECT_EQ(pay(1, "P1", "1"), "PAID");
  EXPECT_EQ(pay(2, "P2", "2"), "REFUND");
  EXPECT_EQ(recorded(), "P1 PAID 1;P2 REFUND 2");
  EXPECT_EQ(notices(), "1 amount_differs;2 refund;2 amount_differs");
  EXPECT_EQ(shop_.value("SELECT detail FROM order_timeout.notice WHERE order_id = 1"),
            R"({"amount": 1, "payment_id": "P1", "order_amount": 1990})");
}

TEST_F(PayOrder, RefusesWhatItCannotMean) {
  place(1, 0);
  expect_refused("99, 'P1', 1", "P0002", "there is no order 99");
  expect_refused("NULL, 'P1', 1", "22004", "none may be NULL");
  expect_refused("1, NULL, 1", "22004", "none may be NULL");
  expect_refused("1, 'P1', NULL", "22004", "none may be NULL");
  expect_refused("1, ' ', 1", "22023", "1 to 200 characters");
  expect_refused("1, repeat('x', 201), 1", "22023", "1 to 200 characters");
  EXPECT_EQ(status_of(1), "WAIT_PAY");
}

TEST_F(PayOrder, APaymentOfAnotherOrderIsRefusedWhole) {
  place(1, 0);
  place(2, 0);
  pay(1, "P1");
  expect_refused("2, 'P1', 1990", "23505", "payment P1 is recorded already, for order 1");
  EXPECT_EQ(status_of(2), "WAIT_PAY");
}

TEST_F(PayOrder, ATriggerThatForbidsThePaymentIsAnErrorAndNotAPaidOrder) {
  place(1, 0);
  shop_.exec(
      "CREATE FUNCTION forbid() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;"
      "CREATE TRIGGER forbid BEFORE UPDATE ON t_order FOR EACH ROW EXECUTE FUNCTION forbid()");
  expect_refused("1, 'P1', 1990", "55000", "could not be set to paid");
  EXPECT_EQ(recorded(), "");
}

TEST_F(PayOrder, ItsAnswerGoesWithTheShopsTransaction) {
  place(1, 71);
  Session payer(server_.url(database_));
  payer.begin();
  EXPECT_EQ(pay(payer, 1, "P1"), "PAID");
  EXPECT_EQ(outcome(1), "locked");
  payer.rollback();
  EXPECT_EQ(outcome(1), "closed");
  EXPECT_EQ(recorded(), "");
}

TEST_F(PayOrder, APaymentEndsTheHoldThatItCaused) {
  place(1, 71);
  place(2, 71);
  shop_.exec(
      "INSERT INTO t_payment VALUES ('P1', 1, 'SUCCESS', 1990);"
      "INSERT INTO order_timeout.hold VALUES (2, 'mine', 'lin')");
  ASSERT_EQ(outcome(1), "payment_evidence");
  EXPECT_EQ(pay(1, "P1"), "PAID");
  EXPECT_EQ(pay(2, "P2"), "PAID");
  EXPECT_EQ(shop_.value("SELECT string_agg(order_id::text, ',') FROM order_timeout.hold"), "2");
}

TEST_F(PayOrder, TwoPayersWhoWroteTheirRowsFirstDoNotDeadlock) {
  place(1, 0);
  Session other(server_.url(database_));
  for (Session* payer : {&shop_, &other}) payer->begin();
  shop_.exec("INSERT INTO t_payment VALUES ('P1', 1, 'SUCCESS', 1990)");
  other.exec("INSERT INTO t_payment VALUES ('P2', 1, 'SUCCESS', 1990)");
  EXPECT_EQ(pay(1, "P1"), "PAID");
  auto second = other.rows_later("SELECT order_timeout.pay_order(1, 'P2', 1990)");
  EXPECT_TRUE(wait_until_blocked(daemon_, other.backend_pid()));
  shop_.commit();
  EXPECT_EQ(second.get().at(0).at(0), "REFUND");
  other.commit();
}

TEST_F(PayOrder, InRepeatableReadALostRaceIsAnErrorAndNotAPayment) {
  place(1, 71);
  Session payer(server_.url(database_));
  payer.begin("ISOLATION LEVEL REPEATABLE READ");
  payer.exec("SELECT 1 FROM t_order");  // its snapshot
  ASSERT_EQ(outcome(1), "closed");
  try {
    payer.exec("SELECT order_timeout.pay_order(1, 'P1', 1990)");
    FAIL() << "it was carried out";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("could not serialize access"));
  }
}

// Payers and closers on the same orders at once: 800 orders, each paid by two payments, each of
// those reported twice, while two daemons close all of them again and again.
class PayOrderRace : public PayOrder {
 protected:
  static constexpr int kOrders = 800;
  static constexpr int kPayers = 6;

  void pay_all(int payer) {
    Session session(server_.url(database_));
    std::mt19937 random(static_cast<unsigned>(payer));
    std::vector<std::string> payments;
    for (int order = 1 + payer; order <= kOrders; order += kPayers) {
      for (const char* payment : {"a", "a", "b", "b"}) {
        payments.push_back(std::to_string(order) + ", '" + payment + std::to_string(order));
      }
    }
    std::shuffle(payments.begin(), payments.end(), random);
    for (const std::string& payment : payments) {
      session.exec("SELECT order_timeout.pay_order(" + payment + "', 1990)");
    }
  }

  void close_all_the_time() {
    Session session(server_.url(database_, "order_timeout_daemon"));
    int from = 1;
    while (session.value("SELECT count(*) FROM order_timeout.shop_order WHERE pending") != "0") {
      session.exec("SELECT * FROM order_timeout.close_orders(array(SELECT generate_series(" +
                   std::to_string(from) + ", " + std::to_string(from + 9) + ")), NULL)");
      from = from + 10 > kOrders ? 1 : from + 10;
    }
  }
};

TEST_F(PayOrderRace, ExactlyOneOfPaidAndClosedWins) {
  shop_.exec(
      "INSERT INTO t_order (id, order_no, amount_cents, created_at) SELECT n, 'N' || n, 1990, "
      "now() - interval '2 minutes' FROM generate_series(1, " +
      std::to_string(kOrders) +
      ") n;"
      "CREATE TABLE moves (order_id bigint, was text, now text);"
      "CREATE FUNCTION moved() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN "
      "INSERT INTO public.moves "
      "VALUES (new.id, old.status, new.status); RETURN NULL; END $$;"
      "CREATE TRIGGER moved AFTER UPDATE OF status ON t_order FOR EACH ROW EXECUTE FUNCTION "
      "moved()");
  {
    std::vector<std::jthread> threads;
    for (int payer = 0; payer < kPayers; ++payer)
      threads.emplace_back([=, this] { pay_all(payer); });
    for (int daemon = 0; daemon < 2; ++daemon)
      threads.emplace_back([this] { close_all_the_time(); });
  }
  EXPECT_EQ(count("moves"), kOrders);
  EXPECT_EQ(count("(SELECT DISTINCT order_id FROM moves WHERE was = 'WAIT_PAY') m"), kOrders);
  EXPECT_EQ(count("order_timeout.payment"), 2 * kOrders);
  // A paid order has one payment that paid it and one that goes back, a closed one two that go.
  EXPECT_EQ(
      count("t_order o WHERE (SELECT count(*) FROM order_timeout.payment p WHERE p.order_id = "
            "o.id AND p.outcome = 'PAID') <> CASE o.status WHEN 'PAID' THEN 1 ELSE 0 END"),
      0);
  EXPECT_EQ(count("order_timeout.payment p FULL JOIN (SELECT * FROM order_timeout.outbox WHERE "
                  "event_type = 'REFUND') e ON e.event_key = p.order_id || ':REFUND:' || "
                  "p.payment_id WHERE (p.outcome = 'REFUND') IS DISTINCT FROM (e.id IS NOT NULL)"),
            0);
  EXPECT_EQ(count("t_order o WHERE (SELECT count(*) FROM order_timeout.outbox e WHERE e.order_id = "
                  "o.id AND e.event_type = 'RELEASE_STOCK') <> CASE o.status WHEN 'CLOSED' THEN 1 "
                  "ELSE 0 END"),
            0);
  const int paid = count("t_order WHERE status = 'PAID'");
  std::printf("paid: %d, closed: %d\n", paid, kOrders - paid);
  EXPECT_GE(paid, kOrders / 20);
  EXPECT_LE(paid, kOrders - kOrders / 20);
}

}  // namespace
}  // namespace order_timeout::testing
