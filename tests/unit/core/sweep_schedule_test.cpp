// Proves that the nightly sweep is due once a local day, in any zone, also in the nights when
// clocks are changed, and that a night missed while the daemon was down is known afterwards.
#include "order_timeout/sweep_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace order_timeout {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Instant utc(int year, unsigned month, unsigned day, Duration time = 0h) {
  using std::chrono::year_month_day;
  const year_month_day date{std::chrono::year{year}, std::chrono::month{month},
                            std::chrono::day{day}};
  return Instant{std::chrono::sys_days{date}.time_since_epoch() + time};
}

SweepSchedule schedule(const std::string& zone, Duration time_of_day) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time_of_day);
  return SweepSchedule::make(zone, static_cast<int>(minutes.count())).value();
}

TEST(SweepSchedule, IsDueAtTheLocalTime) {
  const auto nightly = schedule("Asia/Shanghai", 3h);
  EXPECT_EQ(nightly.next(utc(2026, 11, 30, 12h)), utc(2026, 11, 30, 19h));
  EXPECT_EQ(nightly.latest(utc(2026, 11, 30, 12h)), utc(2026, 11, 29, 19h));
}

TEST(SweepSchedule, TheNextIsAfterNowAndTheLatestIsNotAfterIt) {
  const auto nightly = schedule("UTC", 3h);
  const Instant three = utc(2026, 11, 30, 3h);
  EXPECT_EQ(nightly.next(three - 1ms), three);
  EXPECT_EQ(nightly.next(three), three + 24h);
  EXPECT_EQ(nightly.latest(three), three);
  EXPECT_EQ(nightly.latest(three - 1ms), three - 24h);
}

TEST(SweepSchedule, TakesTheEndsOfTheDay) {
  EXPECT_EQ(schedule("UTC", 0h).next(utc(2026, 11, 30, 1ms)), utc(2026, 12, 1));
  EXPECT_EQ(schedule("UTC", 23h + 59min).latest(utc(2026, 12, 1)), utc(2026, 11, 30, 23h + 59min));
}

TEST(SweepSchedule, ATimeThatTheNightDoesNotHaveIsTheFirstInstantAfterTheGap) {
  // Did not run in the night when the clocks went forward: github.com/rundeck/rundeck/issues/6879.
  const auto nightly = schedule("America/New_York", 2h + 30min);
  const Instant after_gap = utc(2027, 3, 14, 7h);  // 03:00 summer time
  EXPECT_EQ(nightly.next(utc(2027, 3, 14, 6h)), after_gap);
  EXPECT_EQ(nightly.next(after_gap), utc(2027, 3, 15, 6h + 30min));
  EXPECT_EQ(nightly.latest(utc(2027, 3, 14, 12h)), after_gap);
}

TEST(SweepSchedule, ATimeThatTheNightHasTwiceIsTheFirst) {
  const auto nightly = schedule("America/New_York", 1h + 30min);
  const Instant first = utc(2027, 11, 7, 5h + 30min);
  EXPECT_EQ(nightly.next(utc(2027, 11, 7)), first);
  EXPECT_EQ(nightly.next(first), utc(2027, 11, 8, 6h + 30min));
  EXPECT_EQ(nightly.latest(first + 1h), first);
}

TEST(SweepSchedule, IsDueOnceALocalDayForYears) {
  for (const char* zone :
       {"Asia/Shanghai", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
        "America/Sao_Paulo", "Asia/Kathmandu", "Pacific/Kiritimati"}) {
    for (const Duration time : {Duration{0h}, Duration{2h + 15min}, Duration{23h + 59min}}) {
      const auto nightly = schedule(zone, time);
      Instant night = nightly.next(utc(2012, 1, 1));
      const Instant first = night;
      for (int day = 0; day < 20 * 365; ++day) {
        const Instant following = nightly.next(night);
        ASSERT_GE(following - night, 22h) << zone;
        ASSERT_LE(following - night, 26h) << zone;
        ASSERT_EQ(nightly.latest(following - 1ms), night) << zone;
        night = following;
      }
      const Duration expected = 20 * 365 * Duration{24h};
      EXPECT_LE(std::chrono::abs(night - first - expected), 2h) << zone;
    }
  }
}

TEST(SweepSchedule, ADayThatAZoneSkippedDelaysNothing) {
  // Samoa had no 30 December 2011.
  const auto nightly = schedule("Pacific/Apia", 3h);
  const Instant midnight = utc(2011, 12, 30, 10h);  // the 29th ends and the 31st begins
  EXPECT_EQ(nightly.next(midnight - 1h), midnight);
  EXPECT_EQ(nightly.next(midnight), midnight + 3h);
}

TEST(SweepSchedule, AMissedNightIsKnown) {
  const auto nightly = schedule("UTC", 3h);
  const Instant three = utc(2026, 11, 30, 3h);
  EXPECT_FALSE(nightly.missed(three + 5h, three + 1s)) << "ran this night";
  EXPECT_FALSE(nightly.missed(three + 5h, three)) << "ran on the instant";
  EXPECT_TRUE(nightly.missed(three + 5h, three - 24h + 1s)) << "ran the night before";
  EXPECT_FALSE(nightly.missed(three - 1ms, three - 24h + 1s)) << "this night is still to come";
  EXPECT_TRUE(nightly.missed(three, three - 1ms)) << "ran too soon, by hand";
  EXPECT_TRUE(nightly.missed(three + 5h, std::nullopt)) << "never ran";
}

TEST(SweepSchedule, UnknownZonesAndTimesAreRefusedByName) {
  for (const std::string zone : {"Asia/Shangai", "", "../../etc/passwd", "UTC+8"}) {
    const auto refused = SweepSchedule::make(zone, 180);
    ASSERT_FALSE(refused) << zone;
    EXPECT_THAT(refused.error().detail, HasSubstr("\"" + zone + "\""));
    EXPECT_EQ(refused.error().kind, FailureKind::rejected);
  }
  EXPECT_FALSE(SweepSchedule::make("UTC", -1));
  EXPECT_FALSE(SweepSchedule::make("UTC", 1'440));
  EXPECT_TRUE(SweepSchedule::make("UTC", 1'439));
}

TEST(SweepSchedule, TakesAnyInstant) {
  const auto nightly = schedule("Europe/Berlin", 3h);
  EXPECT_EQ(nightly.next(kNever), kNever);
  EXPECT_LE(nightly.latest(kNever), kNever);
  EXPECT_LT(nightly.latest(kAlways), utc(1970, 1, 2));
  EXPECT_GT(nightly.next(kAlways), kAlways);
}

}  // namespace
}  // namespace order_timeout
