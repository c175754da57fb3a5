// Proves that the sample shop's books are worth believing: each way in which a daemon could cheat
// the shop (an order forgotten, closed early, late or twice released, a payment overruled, stock
// that went astray) is named as a difference, and an honest day shows none.
#include "support/shop_ledger.hpp"

#include <gmock/gmock.h>

namespace order_timeout::shop {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t kSku = 1'001;
constexpr OrderId kPaid = 1;
constexpr OrderId kUnpaid = 2;

PlacedOrder two_pieces(OrderId id) {
  return {.id = id,
          .close_from = instant_from_ms(5'000),
          .close_after = milliseconds{5'000},
          .items = {{.sku = kSku, .quantity = 2}}};
}

// One order paid, one closed and its stock back; the database agrees.
class ADayAtTheShop : public testing::Test {
 protected:
  ADayAtTheShop() {
    ledger_.placed(two_pieces(kPaid));
    ledger_.placed(two_pieces(kUnpaid));
    ledger_.paid(kPaid);
    database_.orders[kPaid] = {.status = "PAID"};
    database_.orders[kUnpaid] = {.status = "CLOSED", .events = 1, .events_done = 1, .releases = 1};
    database_.stocks[kSku] = {.available = 8, .reserved = 0};
    database_.now = instant_from_ms(9'000);
  }

  void see_closed(Duration late) { ledger_.saw_closed({.id = kUnpaid, .late = late}); }
  void see_released() { ledger_.saw_released({.id = kUnpaid, .late = milliseconds{9}}); }

  std::vector<std::string> differences() {
    see_closed(milliseconds{3});
    see_released();
    return ledger_.differences(database_);
  }

  Ledger ledger_{Stocks{{kSku, {.available = 10, .reserved = 0}}}};
  Observed database_;
};

TEST_F(ADayAtTheShop, BalancesWhenTheDatabaseAgrees) { EXPECT_THAT(differences(), IsEmpty()); }

TEST_F(ADayAtTheShop, NamesAnOrderThatIsStillPending) {
  database_.orders[kUnpaid] = {.status = "WAIT_PAY"};
  EXPECT_THAT(
      ledger_.differences(database_),
      testing::Contains(HasSubstr("order 2 is unpaid and not closed but WAIT_PAY, 4000 ms")));
}

TEST_F(ADayAtTheShop, NamesAnOrderThatIsGone) {
  database_.orders.erase(kPaid);
  EXPECT_THAT(differences(), ElementsAre("order 1 was placed and is not in the database"));
}

TEST_F(ADayAtTheShop, NamesAnOrderThatTheShopNeverPlaced) {
  database_.orders[3] = {.status = "CLOSED"};
  EXPECT_THAT(differences(), ElementsAre("order 3 is in the database and was never placed"));
}

TEST_F(ADayAtTheShop, NamesAPaidOrderThatWasClosed) {
  database_.orders[kPaid].status = "CLOSED";
  EXPECT_THAT(differences(), ElementsAre("order 1 should be PAID and is CLOSED"));
}

TEST_F(ADayAtTheShop, NamesACloseWithoutItsEvent) {
  database_.orders[kUnpaid].events = 0;
  EXPECT_THAT(differences(), ElementsAre("order 2 has 0 events"));
}

TEST_F(ADayAtTheShop, NamesAnEventOfAPaidOrder) {
  database_.orders[kPaid].events = 1;
  EXPECT_THAT(differences(), ElementsAre("order 1 has 1 event"));
}

TEST_F(ADayAtTheShop, NamesADeadEvent) {
  database_.orders[kUnpaid].events_done = 0;
  EXPECT_THAT(differences(), ElementsAre("order 2 has 0 finished events"));
}

TEST_F(ADayAtTheShop, NamesAReleaseThatHappenedTwice) {
  database_.orders[kUnpaid].releases = 2;
  EXPECT_THAT(differences(), ElementsAre("order 2 has had 2 releases of its stock"));
}

TEST_F(ADayAtTheShop, NamesStockThatWentAstray) {
  database_.stocks[kSku].available = 10;
  EXPECT_THAT(differences(), ElementsAre("SKU 1001 should have 8 available and 0 reserved, and has "
                                         "10 and 0"));
}

TEST_F(ADayAtTheShop, NamesEventsThatNobodyDelivered) {
  database_.claimable_events = 2;
  EXPECT_THAT(differences(), ElementsAre("2 events are still to be delivered"));
}

TEST_F(ADayAtTheShop, NamesAnOrderClosedBeforeItsTime) {
  see_closed(milliseconds{-1});
  EXPECT_THAT(differences(), ElementsAre("an order was closed 1 ms before its deadline + grace"));
}

TEST_F(ADayAtTheShop, NamesAnOrderClosedMoreThanTwoSecondsLate) {
  see_closed(milliseconds{2'001});
  EXPECT_THAT(differences(), ElementsAre("an order was closed 2001 ms after its deadline + grace"));
}

TEST_F(ADayAtTheShop, NamesACloseAfterACommittedPayment) {
  ledger_.saw_closed({.id = kPaid, .late = milliseconds{1}});
  EXPECT_THAT(differences(),
              ElementsAre("order 1 was closed after its payment had been committed"));
}

TEST_F(ADayAtTheShop, CountsADeliveryAsStock) {
  ledger_.restocked(kSku, 100);
  EXPECT_THAT(differences(), Not(IsEmpty()));
  database_.stocks[kSku].available = 108;
  EXPECT_THAT(ledger_.differences(database_), IsEmpty());
}

TEST_F(ADayAtTheShop, IsSettledOnceTheStockOfEveryUnpaidOrderIsBack) {
  EXPECT_FALSE(ledger_.settled());
  see_closed(milliseconds{3});
  EXPECT_FALSE(ledger_.settled());
  see_released();
  EXPECT_TRUE(ledger_.settled());
}

TEST(LatenessOfAHundredOrders, GivesTheValueThatSoManyDoNotExceed) {
  Lateness lateness;
  for (int ms = 100; ms >= 1; --ms) lateness.add(milliseconds{ms});
  EXPECT_EQ(lateness.at(0.5), milliseconds{51});
  EXPECT_EQ(lateness.at(0.99), milliseconds{100});
  EXPECT_EQ(lateness.at(1.0), milliseconds{100});
  EXPECT_EQ(lateness.least(), milliseconds{1});
}

TEST(Customers, PayInTheSharesThatTheShopIsKnownFor) {
  Customers customers{{.lines = {{.name = "normal", .timeout = milliseconds{6'000}}},
                       .grace = milliseconds{1'000},
                       .skus = {1, 2, 3, 4}}};
  int last_moment = 0, too_late = 0, never = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto basket = customers.next();
    EXPECT_THAT(basket.items, testing::SizeIs(testing::AllOf(testing::Ge(1U), testing::Le(3U))));
    last_moment += basket.payment == Payment::last_moment ? 1 : 0;
    too_late += basket.payment == Payment::too_late ? 1 : 0;
    never += basket.payment == Payment::never ? 1 : 0;
  }
  EXPECT_NEAR(last_moment, 400, 100);
  EXPECT_NEAR(too_late, 400, 100);
  EXPECT_NEAR(never, 2'000, 200);
}

TEST(Customers, PayInTheLastMomentWithinAHundredMillisecondsOfTheClose) {
  Customers customers{{.lines = {{.name = "normal", .timeout = milliseconds{6'000}}},
                       .grace = milliseconds{1'000},
                       .skus = {1}}};
  for (int i = 0; i < 1'000; ++i) {
    const auto basket = customers.next();
    if (basket.payment != Payment::last_moment) continue;
    EXPECT_LE(std::chrono::abs(basket.pay_after - milliseconds{7'000}), milliseconds{100});
  }
}

}  // namespace
}  // namespace order_timeout::shop
