// Proves that a wait is between half and the whole of its step, that the last step repeats, and
// that no retry number, random number or list of waits is dangerous.
#include "order_timeout/backoff.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <vector>

namespace order_timeout {
namespace {

using namespace std::chrono_literals;

constexpr double kJustBelowOne = 1.0 - std::numeric_limits<double>::epsilon() / 2;

TEST(Backoff, WaitsBetweenHalfAndTheWholeOfTheStep) {
  const Backoff backoff{{1s, 5s, 30s}};
  EXPECT_EQ(backoff.wait(2, 0.0), 2'500ms);
  EXPECT_EQ(backoff.wait(2, 0.5), 3'750ms);
  EXPECT_GE(backoff.wait(2, kJustBelowOne), 4'999ms);
  EXPECT_LE(backoff.wait(2, kJustBelowOne), 5s);
}

TEST(Backoff, TakesTheStepsInTheirOrderAndRepeatsTheLast) {
  const Backoff backoff{{1s, 5s, 30s}};
  EXPECT_EQ(backoff.wait(1, 0.0), 500ms);
  EXPECT_EQ(backoff.wait(3, 0.0), 15s);
  EXPECT_EQ(backoff.wait(4, 0.0), 15s);
}

TEST(Backoff, TakesAnyRetryNumber) {
  const Backoff backoff{{1s, 1h}};
  for (const int retry : {31, 32, 33, 63, 64, 65, 1'000'000'000, std::numeric_limits<int>::max()}) {
    EXPECT_EQ(backoff.wait(retry, 0.0), 30min) << retry;
  }
  for (const int retry : {0, -1, std::numeric_limits<int>::min()}) {
    EXPECT_EQ(backoff.wait(retry, 0.0), 500ms) << retry;
  }
}

TEST(Backoff, NeverGivesZeroOrMoreThanTheStep) {
  for (const Duration step :
       {Duration{1}, Duration{2}, Duration{3}, Duration{100}, Duration::max()}) {
    const Backoff backoff{{step}};
    for (const double random : {0.0, 1e-300, 0.3, 0.5, kJustBelowOne}) {
      EXPECT_GT(backoff.wait(1, random), 0ms) << step.count() << " " << random;
      EXPECT_GE(backoff.wait(1, random), step / 2) << step.count() << " " << random;
      EXPECT_LE(backoff.wait(1, random), step) << step.count() << " " << random;
    }
  }
}

TEST(Backoff, HoldsARandomNumberOutsideItsRangeAtTheEnds) {
  const Backoff backoff{{10s}};
  EXPECT_EQ(backoff.wait(1, -3.0), 5s);
  EXPECT_EQ(backoff.wait(1, std::numeric_limits<double>::quiet_NaN()), 5s);
  EXPECT_EQ(backoff.wait(1, 1.0), 10s);
  EXPECT_EQ(backoff.wait(1, std::numeric_limits<double>::infinity()), 10s);
}

TEST(Backoff, NeverSpinsWhateverTheListOfWaits) {
  EXPECT_EQ(Backoff{std::vector<Duration>{}}.wait(1, 0.0), 500ms);
  EXPECT_EQ((Backoff{{0s, -5s}}.wait(1, 0.0)), 1ms);
  EXPECT_EQ((Backoff{{0s, -5s}}.wait(2, 0.9)), 1ms);
}

}  // namespace
}  // namespace order_timeout
