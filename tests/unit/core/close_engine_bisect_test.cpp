// A batch that fails is halved until the bad order is alone; if every order fails alike the
// database is at fault. And no more orders pass than the rate allows.
#include <gmock/gmock.h>

#include <vector>

#include "order_timeout/close_engine.hpp"
#include "support/engine_story.hpp"

namespace order_timeout {
namespace {

using namespace std::chrono_literals;
using namespace engine_story;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(CloseEngineBisects, OneBadOrderAmongAThousandIsFoundAndTheOthersClose) {
  CloseEngine::Options options{.batch_size = 500, .max_per_second = 0};
  CloseEngine engine{options, kStart};
  for (OrderId id = 1; id <= 1000; ++id) engine.track(order(id, kStart));
  const Drained drained = drain(engine, kStart, [](OrderId id) { return id == 477; });
  EXPECT_THAT(drained.quarantined, ElementsAre(477));
  EXPECT_THAT(drained.closed, SizeIs(999));
  EXPECT_LE(drained.calls, 2 + 2 * 9 + 1);
}

TEST(CloseEngineBisects, SeveralBadOrdersSideBySideAreNoBrokenDatabase) {
  CloseEngine::Options options{.batch_size = 500, .max_per_second = 0};
  CloseEngine engine{options, kStart};
  for (OrderId id = 1; id <= 1000; ++id) engine.track(order(id, kStart));
  const Drained drained = drain(engine, kStart, [](OrderId id) { return id >= 100 && id < 106; });
  EXPECT_FALSE(drained.broken);
  EXPECT_THAT(drained.quarantined, SizeIs(6));
  EXPECT_THAT(drained.closed, SizeIs(994));
}

TEST(CloseEngineBisects, WhenEveryOrderFailsAlikeClosingStopsAndNothingIsQuarantined) {
  CloseEngine::Options options{.batch_size = 500, .max_per_second = 0};
  CloseEngine engine{options, kStart};
  for (OrderId id = 1; id <= 1000; ++id) engine.track(order(id, kStart));
  const Drained drained = drain(engine, kStart, [](OrderId) { return true; });
  EXPECT_TRUE(drained.broken);
  EXPECT_THAT(drained.quarantined, IsEmpty());
  EXPECT_EQ(engine.pending(), 1000U);
  EXPECT_LE(drained.calls, 40);

  const auto probe = engine.next_batch(kStart + 5s);
  ASSERT_TRUE(probe);
  EXPECT_THAT(probe->orders, SizeIs(1));
  EXPECT_FALSE(engine.next_batch(kStart + 5s)) << "one probe at a time";
  const std::vector<CloseResult> answers{result(probe->orders.at(0).id, CloseOutcome::closed)};
  const auto verdict = engine.settle(*probe, answers, kStart + 5s);
  EXPECT_TRUE(verdict.mended);
  EXPECT_THAT(verdict.quarantine, IsEmpty());
  const Drained after = drain(engine, kStart + 10s, [](OrderId) { return false; });
  EXPECT_THAT(after.closed, SizeIs(999));
}

TEST(CloseEngineRate, LetsThroughNoMoreThanItsRate) {
  CloseEngine::Options options{.batch_size = 500, .max_per_second = 100};
  CloseEngine engine{options, kStart};
  for (OrderId id = 1; id <= 1000; ++id) engine.track(order(id, kStart));
  std::size_t taken = 0;
  for (Duration passed{0}; passed < 2s; passed += 1ms) {
    if (auto batch = engine.next_batch(kStart + passed)) taken += batch->orders.size();
  }
  EXPECT_GE(taken, 195U);
  EXPECT_LE(taken, 215U);
}

}  // namespace
}  // namespace order_timeout
