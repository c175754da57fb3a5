// Proves that a deadline can be moved and an order held, by the shop and by an operator, so that
// the answer is final against a close at the same moment, and that each leaves who, why and when.
#include "support/close_fixture.hpp"

namespace order_timeout::testing {
namespace {

class HoldExtend : public CloseFixture {
 protected:
  std::string extend(int id, const std::string& deadline) {
    return shop_.value("SELECT order_timeout.extend_order(" + std::to_string(id) + ", " + deadline +
                       ", 'asked')");
  }
  std::string hold(int id) {
    return operator_.value("SELECT order_timeout.hold_order(" + std::to_string(id) +
                           ", 'lin', 'look first')");
  }
  std::string unhold(int id) {
    return operator_.value("SELECT order_timeout.unhold_order(" + std::to_string(id) +
                           ", 'lin', 'looked')");
  }
  std::string notices() {
    return shop_.value(
        "SELECT coalesce(string_agg(kind || ' ' || \"by\" || ' ' || reason, ';' ORDER BY id), '') "
        "FROM order_timeout.notice");
  }

  Session operator_{server_.url(database_, "order_timeout_operator")};
};

TEST_F(HoldExtend, ALaterDeadlineHoldsEvenAfterTheOldOneHasPassed) {
  place(1, 71);
  EXPECT_EQ(extend(1, "now() + interval '1 hour'"), "t");
  const CloseAnswer answer = close(1);
  EXPECT_EQ(answer.outcome, "not_due");
  EXPECT_EQ(answer.detail, "deadline_from=override");
  EXPECT_EQ(notices(), "extended postgres asked");
}

TEST_F(HoldExtend, ASoonerDeadlineHoldsToo) {
  place(1, 0);
  ASSERT_EQ(outcome(1), "not_due");
  EXPECT_EQ(extend(1, "now() - interval '11 seconds'"), "t");
  EXPECT_EQ(outcome(1), "closed");
}

TEST_F(HoldExtend, TheLastWordCountsAndTheCountdownShowsIt) {
  place(1, 0);
  extend(1, "'2100-01-01 00:00+00'");
  extend(1, "'2101-01-01 00:00+00'");
  EXPECT_EQ(shop_.value("SELECT pay_deadline || '/' || close_deadline FROM "
                        "order_timeout.order_deadline"),
            "2101-01-01 00:00:00+00/2101-01-01 00:00:10+00");
  EXPECT_EQ(extend(1, "'infinity'"), "t");
  EXPECT_EQ(close(1).due_ms, "9223372036854775807");
}

TEST_F(HoldExtend, AnOrderThatWaitsForNothingIsNotExtended) {
  place(1, 71);
  close(1);
  EXPECT_EQ(extend(1, "now()"), "f");
  EXPECT_EQ(count("order_timeout.deadline_override"), 0);
  EXPECT_EQ(notices(), "");
}

TEST_F(HoldExtend, RefusesWhatItCannotMean) {
  place(1, 0);
  const auto refused = [this](const std::string& arguments) {
    const auto error = shop_.refused("SELECT order_timeout.extend_order(" + arguments + ")");
    return error ? error->sqlstate : "";
  };
  EXPECT_EQ(refused("99, now(), 'r'"), "P0002");
  EXPECT_EQ(refused("NULL, now(), 'r'"), "22004");
  EXPECT_EQ(refused("1, NULL, 'r'"), "22004");
  EXPECT_EQ(refused("1, now(), NULL"), "22004");
}

TEST_F(HoldExtend, AnOperatorExtendsFromTheDeadlineOrFromNow) {
  place(1, 10);
  place(2, 1000);
  const auto longer = [this](int id) {
    return operator_.value("SELECT order_timeout.extend_order_by_hand(" + std::to_string(id) +
                           ", NULL, '10 min', 'lin', 'asked') - (SELECT created_at FROM "
                           "order_timeout.shop_order WHERE id = " +
                           std::to_string(id) + ") - interval '10 min'");
  };
  EXPECT_EQ(longer(1), "00:01:00");
  EXPECT_THAT(longer(2), ::testing::StartsWith("00:16:40"));
  EXPECT_EQ(notices(), "extended lin asked;extended lin asked");
  const auto error = operator_.refused(
      "SELECT order_timeout.extend_order_by_hand(99, now(), NULL, 'lin', 'asked')");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->sqlstate, "P0002");
}

TEST_F(HoldExtend, AHeldOrderStaysOpenUntilItIsLetGo) {
  place(1, 71);
  EXPECT_EQ(hold(1), "held");
  EXPECT_EQ(hold(1), "already_held");
  EXPECT_EQ(close(1).detail, "look first");
  EXPECT_EQ(unhold(1), "unheld");
  EXPECT_EQ(unhold(1), "not_held");
  EXPECT_EQ(outcome(1), "closed");
  EXPECT_EQ(notices(), "held lin look first;unheld lin looked");
}

TEST_F(HoldExtend, OnlyAPendingOrderIsHeld) {
  place(1, 71);
  place(2, 0);
  place(3, 0);
  close(1);
  shop_.exec(
      "UPDATE t_order SET status = CASE id WHEN 2 THEN 'PAID' ELSE 'SHIPPED' END WHERE id > 1");
  EXPECT_EQ(hold(1), "already_closed");
  EXPECT_EQ(hold(2), "already_paid");
  EXPECT_EQ(hold(3), "other_status");
  EXPECT_EQ(hold(4), "missing");
  EXPECT_EQ(count("order_timeout.hold"), 0);
}

TEST_F(HoldExtend, AHoldWaitsForACloseUnderWayAndThenSaysTheTruth) {
  place(1, 71);
  daemon_.begin();
  ASSERT_EQ(outcome(1), "closed");
  auto holding = operator_.rows_later("SELECT order_timeout.hold_order(1, 'lin', 'why')");
  EXPECT_TRUE(wait_until_blocked(shop_, operator_.backend_pid()));
  daemon_.commit();
  EXPECT_EQ(holding.get().at(0).at(0), "already_closed");
}

TEST_F(HoldExtend, ACloseDoesNotOvertakeAHoldUnderWay) {
  place(1, 71);
  operator_.begin();
  ASSERT_EQ(hold(1), "held");
  EXPECT_EQ(outcome(1), "locked");
  operator_.commit();
  EXPECT_EQ(outcome(1), "held");
}

TEST_F(HoldExtend, TheDaemonHoldsOnlyInTheNameOfThePaymentCheck) {
  place(1, 0);
  EXPECT_EQ(daemon_.value("SELECT order_timeout.hold_for_payment(1, 'gateway: PAID')"), "held");
  EXPECT_EQ(shop_.value("SELECT \"by\" || ' ' || reason FROM order_timeout.hold"),
            "payment_check gateway: PAID");
}

}  // namespace
}  // namespace order_timeout::testing
