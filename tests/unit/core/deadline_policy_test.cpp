// A reminder may delay a close within bounds and never hasten it, and garbage scores are no
// reminders.
#include "order_timeout/deadline_policy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace order_timeout {
namespace {

using namespace std::chrono_literals;

constexpr Instant kDue = instant_from_ms(1'700'000'000'000);

TEST(CloseNotBefore, IsTheDatabasesDueInstantWithoutAReminder) {
  EXPECT_EQ(close_not_before(kDue, std::nullopt, 24h), kDue);
}

TEST(CloseNotBefore, IsNeverHastenedByAnEarlierReminder) {
  EXPECT_EQ(close_not_before(kDue, kDue - 1h, 24h), kDue);
  EXPECT_EQ(close_not_before(kDue, kAlways, 24h), kDue);
  EXPECT_EQ(close_not_before(kDue, kDue, 24h), kDue);
}

TEST(CloseNotBefore, FollowsALaterReminderWithinTheExtension) {
  EXPECT_EQ(close_not_before(kDue, kDue + 1ms, 24h), kDue + 1ms);
  EXPECT_EQ(close_not_before(kDue, kDue + 24h, 24h), kDue + 24h);
}

TEST(CloseNotBefore, IsDelayedByTheExtensionAtMost) {
  EXPECT_EQ(close_not_before(kDue, kDue + 24h + 1ms, 24h), kDue + 24h);
  EXPECT_EQ(close_not_before(kDue, kNever, 24h), kDue + 24h);
  EXPECT_EQ(close_not_before(kDue, kNever, 0ms), kDue);
  EXPECT_EQ(close_not_before(kDue, kNever, -1h), kDue);
}

TEST(CloseNotBefore, HoldsAtTheEndsOfTime) {
  EXPECT_EQ(close_not_before(kNever, kDue, 24h), kNever);
  EXPECT_EQ(close_not_before(kAlways, kDue, 24h), kAlways);
  const Instant last = kNever - 1ms;
  EXPECT_EQ(close_not_before(last, kNever, 24h), kNever);
}

TEST(InstantOfScore, ReadsMillisecondsAndSeconds) {
  EXPECT_EQ(instant_of_score(1'700'000'000'000.0, ScoreUnit::milliseconds), kDue);
  EXPECT_EQ(instant_of_score(1'700'000'000.0, ScoreUnit::seconds), kDue);
  EXPECT_EQ(instant_of_score(1'700'000'000.5, ScoreUnit::seconds), kDue + 500ms);
}

TEST(InstantOfScore, RoundsUpSoThatNothingIsEarly) {
  EXPECT_EQ(instant_of_score(1'700'000'000'000.25, ScoreUnit::milliseconds), kDue + 1ms);
}

TEST(InstantOfScore, TakesBothEndsOfTheSensibleRangeAndNothingBeyond) {
  const double first = 946'684'800'000;
  const double last = 7'258'118'400'000;
  EXPECT_EQ(instant_of_score(first, ScoreUnit::milliseconds), instant_from_ms(946'684'800'000));
  EXPECT_EQ(instant_of_score(last, ScoreUnit::milliseconds), instant_from_ms(7'258'118'400'000));
  EXPECT_EQ(instant_of_score(first - 1, ScoreUnit::milliseconds), std::nullopt);
  EXPECT_EQ(instant_of_score(last + 1, ScoreUnit::milliseconds), std::nullopt);
  EXPECT_EQ(instant_of_score(first / 1'000 - 1, ScoreUnit::seconds), std::nullopt);
  EXPECT_EQ(instant_of_score(last / 1'000 + 1, ScoreUnit::seconds), std::nullopt);
}

TEST(InstantOfScore, RefusesGarbage) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double score : {infinity, -infinity, std::nan(""), 0.0, -1.0, 1e300, -1e300, 1e-300}) {
    EXPECT_EQ(instant_of_score(score, ScoreUnit::milliseconds), std::nullopt) << score;
    EXPECT_EQ(instant_of_score(score, ScoreUnit::seconds), std::nullopt) << score;
  }
}

TEST(InstantOfScore, RefusesTheOtherUnitRatherThanBeingAThousandTimesOff) {
  EXPECT_EQ(instant_of_score(1'700'000'000.0, ScoreUnit::milliseconds), std::nullopt);
  EXPECT_EQ(instant_of_score(1'700'000'000'000.0, ScoreUnit::seconds), std::nullopt);
}

}  // namespace
}  // namespace order_timeout
