// The engine decides what is closed when and what follows from each answer: every outcome and every
// kind of failure has its story here, in virtual time.
#include "order_timeout/close_engine.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "support/engine_story.hpp"

namespace order_timeout {
namespace {

using namespace std::chrono_literals;
using namespace engine_story;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class CloseEngineTest : public testing::Test {
 protected:
  CloseEngine::Options options_{.batch_size = 4, .max_per_second = 0};
  CloseEngine engine_{options_, kStart};

  DueBatch take(Instant now) {
    auto batch = engine_.next_batch(now);
    EXPECT_TRUE(batch.has_value());
    return batch.value_or(DueBatch{});
  }
  // Sleeps from one next_due() to the next, as a closer does, until there is a batch.
  DueBatch wait_for_batch(Instant& now) {
    for (int naps = 0; naps < 20; ++naps) {
      if (auto batch = engine_.next_batch(now)) return *batch;
      now = engine_.next_due(now).value_or(kNever);
    }
    ADD_FAILURE() << "nothing came due";
    return {};
  }
  void track_due(int count) {
    for (int id = 1; id <= count; ++id) engine_.track(order(id, kStart));
  }
};

TEST_F(CloseEngineTest, TakesDueOrdersInBatchesEarliestFirstAndNeverEarly) {
  engine_.track(order(1, kStart + 2ms));
  engine_.track(order(2, kStart + 1ms));
  engine_.track(order(3, kStart + 3ms));
  EXPECT_FALSE(engine_.next_batch(kStart));
  EXPECT_THAT(ids(take(kStart + 2ms)), ElementsAre(2, 1));
  EXPECT_FALSE(engine_.next_batch(kStart + 2ms));
  EXPECT_EQ(engine_.next_due(kStart + 2ms), kStart + 3ms);
}

TEST_F(CloseEngineTest, AnAnswerEndsTheWaitOfAPostponedOrder) {
  engine_.track(order(1, kStart));
  DueBatch batch = take(kStart);
  engine_.postpone(batch, {{1, kStart + 30s}});
  engine_.retry_at(1, kStart + 1s);
  engine_.track(order(1, kStart));  // a scan that finds it again does not hasten it
  EXPECT_FALSE(engine_.next_batch(kStart + 1s - 1ms));
  EXPECT_THAT(ids(take(kStart + 1s)), ElementsAre(1));
  engine_.retry_at(2, kStart);  // of an order that nobody tracks it is no news
  EXPECT_EQ(engine_.pending(), 1U);
}

TEST_F(CloseEngineTest, BatchesAreBounded) {
  track_due(6);
  EXPECT_THAT(take(kStart).orders, SizeIs(4));
  EXPECT_THAT(take(kStart).orders, SizeIs(2));
}

TEST_F(CloseEngineTest, ARepeatedTrackOfAnOrderInFlightChangesNothing) {
  track_due(1);
  const DueBatch batch = take(kStart);
  EXPECT_FALSE(engine_.track(order(1, kStart)));
  EXPECT_FALSE(engine_.next_batch(kStart + 1s));
  const std::vector<CloseResult> answers{result(1, CloseOutcome::closed)};
  engine_.settle(batch, answers, kStart);
  EXPECT_EQ(engine_.pending(), 0U);
}

TEST_F(CloseEngineTest, FinalOutcomesForgetTheOrder) {
  for (const CloseOutcome outcome :
       {CloseOutcome::closed, CloseOutcome::already_paid, CloseOutcome::already_closed,
        CloseOutcome::other_status, CloseOutcome::held, CloseOutcome::payment_evidence,
        CloseOutcome::reopened, CloseOutcome::missing, CloseOutcome::for_review,
        CloseOutcome::shadowed, CloseOutcome::ignored, CloseOutcome::not_listed,
        CloseOutcome::too_old}) {
    engine_.track(order(1, kStart));
    const DueBatch batch = take(kStart);
    const std::vector<CloseResult> answers{result(1, outcome)};
    engine_.settle(batch, answers, kStart);
    EXPECT_EQ(engine_.pending(), 0U) << to_string(outcome);
  }
}

TEST_F(CloseEngineTest, NotDueComesBackAtTheDatabasesDeadline) {
  track_due(1);
  const DueBatch batch = take(kStart);
  CloseResult answer = result(1, CloseOutcome::not_due);
  answer.due = kStart + 10min;
  const std::vector<CloseResult> answers{answer};
  engine_.settle(batch, answers, kStart);
  EXPECT_FALSE(engine_.next_batch(kStart + 10min - 1ms));
  const DueBatch again = take(kStart + 10min);
  EXPECT_EQ(again.orders.at(0).version, 2);
}

TEST_F(CloseEngineTest, NotDueAlthoughDueByOurClockWaitsLongerEachTime) {
  track_due(1);
  Instant now = kStart;
  std::vector<Duration> waits;
  DueBatch batch = take(now);
  for (int round = 0; round < 12; ++round) {
    CloseResult answer = result(1, CloseOutcome::not_due);
    answer.due = kStart;
    const std::vector<CloseResult> answers{answer};
    engine_.settle(batch, answers, now);
    const Instant asked = now;
    batch = wait_for_batch(now);
    waits.push_back(now - asked);
  }
  EXPECT_EQ(waits.front(), 2ms);
  EXPECT_EQ(waits.back(), 1s);
}

TEST_F(CloseEngineTest, ALockedOrderIsAskedAgainShortlyAndNeverMoreThanASecondLater) {
  track_due(1);
  Instant now = kStart;
  DueBatch batch = take(now);
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(batch.orders.at(0).version, 1);
    const std::vector<CloseResult> answers{result(1, CloseOutcome::locked)};
    engine_.settle(batch, answers, now);
    const Instant asked = now;
    batch = wait_for_batch(now);
    EXPECT_LE(now - asked, 1s);
  }
  EXPECT_GT(now, kStart + 3s);
}

TEST_F(CloseEngineTest, AMovedVersionIsTriedAgainWithTheNewOne) {
  track_due(1);
  const std::vector<CloseResult> answers{result(1, CloseOutcome::version_moved)};
  engine_.settle(take(kStart), answers, kStart);
  EXPECT_EQ(take(kStart + 10ms).orders.at(0).version, 2);
}

TEST_F(CloseEngineTest, AnOrderWithoutAnAnswerIsNotForgotten) {
  track_due(2);
  const std::vector<CloseResult> answers{result(1, CloseOutcome::closed)};
  engine_.settle(take(kStart), answers, kStart);
  EXPECT_THAT(ids(take(kStart + 1s)), ElementsAre(2));
}

TEST_F(CloseEngineTest, AnExtensionHoldsWhateverDiscoverySays) {
  engine_.delay(1, kStart + 1h);
  engine_.track(order(1, kStart));
  EXPECT_FALSE(engine_.next_batch(kStart + 1h - 1ms));
  engine_.track(order(1, kStart + 5s));
  EXPECT_FALSE(engine_.next_batch(kStart + 1h - 1ms));
  EXPECT_THAT(ids(take(kStart + 1h)), ElementsAre(1));
}

TEST_F(CloseEngineTest, AnExtensionReachesAnOrderAlreadyInTheWheel) {
  track_due(1);
  engine_.delay(1, kStart + 1min);
  EXPECT_FALSE(engine_.next_batch(kStart + 1min - 1ms));
  EXPECT_THAT(ids(take(kStart + 1min)), ElementsAre(1));
}

TEST_F(CloseEngineTest, PostponedOrdersLeaveTheBatchAndComeBackThen) {
  track_due(2);
  DueBatch batch = take(kStart);
  engine_.postpone(batch, {{1, kStart + 5s}});
  EXPECT_THAT(ids(batch), ElementsAre(2));
  EXPECT_EQ(engine_.in_flight(), 1U);
  EXPECT_THAT(ids(take(kStart + 5s)), ElementsAre(1));
}

TEST_F(CloseEngineTest, OrdersDueNeverAreNotKept) {
  EXPECT_FALSE(engine_.track(order(1, kNever)));
  EXPECT_EQ(engine_.pending(), 0U);
}

TEST_F(CloseEngineTest, ALaterTimeoutReachesATrackedOrder) {
  engine_.track(order(1, kStart + 1s));
  engine_.track(order(1, kStart + 1h));
  EXPECT_FALSE(engine_.next_batch(kStart + 1min));
}

TEST_F(CloseEngineTest, ADatabaseThatIsDownGivesEverythingBack) {
  track_due(3);
  for (const FailureKind kind : {FailureKind::unavailable, FailureKind::overloaded}) {
    const auto verdict = engine_.fail(take(kStart), Failure{kind, "gone", ""}, kStart);
    EXPECT_TRUE(verdict.back_off);
    EXPECT_EQ(engine_.in_flight(), 0U);
  }
  EXPECT_THAT(ids(take(kStart)), ElementsAre(1, 2, 3));
}

TEST_F(CloseEngineTest, ATimeoutHalvesTheBatchesAndSuccessGrowsThemBack) {
  track_due(4);
  engine_.fail(take(kStart), Failure{FailureKind::timed_out, "57014", "57014"}, kStart);
  EXPECT_EQ(engine_.batch_limit(), 2U);
  engine_.fail(take(kStart), Failure{FailureKind::timed_out, "57014", "57014"}, kStart);
  EXPECT_EQ(engine_.batch_limit(), 1U);
  for (int round = 0; round < 4; ++round) {
    const DueBatch batch = take(kStart);
    std::vector<CloseResult> answers;
    for (const OrderId id : ids(batch)) answers.push_back(result(id, CloseOutcome::closed));
    engine_.settle(batch, answers, kStart);
    if (engine_.pending() == 0) break;
  }
  EXPECT_GT(engine_.batch_limit(), 1U);
}

TEST_F(CloseEngineTest, AConflictIsTriedAgainAndHalvedAfterAFew) {
  track_due(4);
  const Failure deadlock{FailureKind::conflict, "deadlock", "40P01"};
  DueBatch batch = take(kStart);
  Instant now = kStart;
  for (int round = 0; round < 3; ++round) {
    engine_.fail(std::move(batch), deadlock, now);
    EXPECT_FALSE(engine_.next_batch(now)) << "not at once";
    now = *engine_.next_due(now);
    batch = take(now);
    EXPECT_THAT(batch.orders, SizeIs(4));
  }
  engine_.fail(std::move(batch), deadlock, now);
  EXPECT_THAT(take(now).orders, SizeIs(2));
}

TEST_F(CloseEngineTest, ALoneBadOrderIsQuarantinedOnlyWhenItFailsAgainAfterAnotherClosed) {
  track_due(1);
  EXPECT_THAT(engine_.fail(take(kStart), rejected("P0001"), kStart).quarantine, IsEmpty());
  EXPECT_FALSE(engine_.next_batch(kStart + 500ms)) << "it waits";
  engine_.track(order(2, kStart));
  const std::vector<CloseResult> answers{result(2, CloseOutcome::closed)};
  EXPECT_THAT(engine_.settle(take(kStart + 500ms), answers, kStart + 500ms).quarantine, IsEmpty());
  DueBatch again = take(kStart + 500ms);
  EXPECT_THAT(ids(again), ElementsAre(1));
  const auto verdict = engine_.fail(std::move(again), rejected("P0001"), kStart + 500ms);
  ASSERT_THAT(verdict.quarantine, SizeIs(1));
  EXPECT_EQ(verdict.quarantine.at(0).order.id, 1);
}

TEST_F(CloseEngineTest, AnOrderThatFailedInABadMomentAndThenClosesIsNoBadOrder) {
  track_due(1);
  engine_.fail(take(kStart), rejected("42501"), kStart);
  Instant now = kStart;
  const DueBatch again = wait_for_batch(now);
  const std::vector<CloseResult> answers{result(1, CloseOutcome::closed)};
  EXPECT_THAT(engine_.settle(again, answers, now).quarantine, IsEmpty());
  EXPECT_EQ(engine_.pending(), 0U);
}

TEST_F(CloseEngineTest, ASuspectOfAnotherKindDoesNotHideABrokenDatabase) {
  track_due(1);
  engine_.fail(take(kStart), rejected("23505"), kStart);
  for (OrderId id = 2; id <= 40; ++id) engine_.track(order(id, kStart));
  const Drained drained = drain(engine_, kStart, [](OrderId) { return true; });
  EXPECT_TRUE(drained.broken);
  EXPECT_EQ(engine_.pending(), 40U);
}

TEST_F(CloseEngineTest, AnOrderThatTakesTooLongIsFoundAndHoldsUpNobody) {
  track_due(4);
  const Failure too_slow{FailureKind::timed_out, "statement timeout", "57014"};
  std::vector<OrderId> closed;
  for (int round = 0; round < 10; ++round) {
    auto batch = engine_.next_batch(kStart);
    if (!batch) break;
    const std::vector<OrderId> all = ids(*batch);
    if (std::ranges::find(all, 3) != all.end()) {
      EXPECT_TRUE(engine_.fail(std::move(*batch), too_slow, kStart).back_off);
      continue;
    }
    std::vector<CloseResult> answers;
    for (const OrderId id : all) answers.push_back(result(id, CloseOutcome::closed));
    engine_.settle(*batch, answers, kStart);
    closed.insert(closed.end(), all.begin(), all.end());
  }
  EXPECT_THAT(closed, testing::UnorderedElementsAre(1, 2, 4));
  EXPECT_EQ(engine_.pending(), 1U);
}

TEST_F(CloseEngineTest, ALostAnswerIsAskedForAgainInHalves) {
  track_due(4);
  engine_.fail(take(kStart), Failure{FailureKind::unknown, "connection lost", ""}, kStart);
  EXPECT_THAT(ids(take(kStart)), ElementsAre(1, 2));
  EXPECT_THAT(ids(take(kStart)), ElementsAre(3, 4));
}

TEST_F(CloseEngineTest, ALoneConflictGoesBackIntoTheWheel) {
  track_due(1);
  engine_.fail(take(kStart), Failure{FailureKind::conflict, "lock", "55P03"}, kStart);
  engine_.track(order(2, kStart));
  EXPECT_THAT(ids(take(kStart)), ElementsAre(2));
}

TEST_F(CloseEngineTest, AnUpdateWithoutEffectIsSetAside) {
  track_due(1);
  const std::vector<CloseResult> answers{result(1, CloseOutcome::failed)};
  const auto verdict = engine_.settle(take(kStart), answers, kStart);
  EXPECT_THAT(verdict.quarantine, SizeIs(1));
  EXPECT_EQ(engine_.pending(), 0U);
}

TEST_F(CloseEngineTest, AQuarantinedOrderComesBackWhenTheDatabaseSays) {
  track_due(1);
  CloseResult answer = result(1, CloseOutcome::failed);
  answer.retry_at = kStart + 1min;
  const std::vector<CloseResult> answers{answer};
  engine_.settle(take(kStart), answers, kStart);
  EXPECT_FALSE(engine_.next_batch(kStart + 1min - 1ms));
  EXPECT_THAT(ids(take(kStart + 1min)), ElementsAre(1));
}

}  // namespace
}  // namespace order_timeout
