// Proves that a decision counts as new when it changed, for as many orders as promised, and that
// memory has a bound.
#include "telemetry/decision_memory.hpp"

#include <gtest/gtest.h>

namespace order_timeout::telemetry {
namespace {

TEST(DecisionMemory, KnowsADecisionThatDidNotChange) {
  DecisionMemory memory{10};
  EXPECT_TRUE(memory.changed(7, CloseOutcome::paused));
  EXPECT_FALSE(memory.changed(7, CloseOutcome::paused));
  EXPECT_TRUE(memory.changed(7, CloseOutcome::held));
  EXPECT_TRUE(memory.changed(7, CloseOutcome::paused));
  EXPECT_TRUE(memory.changed(8, CloseOutcome::paused));
}

TEST(DecisionMemory, TakesAForgottenOrderForANewOne) {
  DecisionMemory memory{10};
  memory.changed(7, CloseOutcome::paused);
  memory.forget(7);
  EXPECT_TRUE(memory.changed(7, CloseOutcome::paused));
}

TEST(DecisionMemory, RemembersAsManyOrdersAsPromised) {
  DecisionMemory memory{100};
  for (OrderId id = 0; id < 1'000; ++id) memory.changed(id, CloseOutcome::held);
  for (OrderId id = 900; id < 1'000; ++id) EXPECT_FALSE(memory.changed(id, CloseOutcome::held));
}

TEST(DecisionMemory, ForgetsOrdersBeyondTwiceAsMany) {
  DecisionMemory memory{100};
  for (OrderId id = 0; id < 1'000; ++id) memory.changed(id, CloseOutcome::held);
  for (OrderId id = 0; id < 800; ++id) EXPECT_TRUE(memory.changed(id, CloseOutcome::held));
}

}  // namespace
}  // namespace order_timeout::telemetry
