// Proves that a fault that repeats a thousand times a second costs one line at once and one line a
// minute, and that nothing of another kind is folded away with it.
#include "telemetry/folding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace order_timeout::telemetry {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Folding::TimePoint kStart{1h};

Entry warning(const std::string& message, const std::string& cause) {
  return {.at = instant_from_ms(1'000),
          .level = Level::warn,
          .component = "redis",
          .message = message,
          .fields = {{"cause", cause}}};
}

std::string field(const Entry& entry, const std::string& key) {
  for (const Field& each : entry.fields) {
    if (each.key == key) return each.value;
  }
  return "(none)";
}

TEST(Folding, WritesTheFirstOfAKindAtOnceAndFoldsTheRest) {
  Folding folding;
  EXPECT_TRUE(folding.admit(warning("down", "refused"), kStart));
  EXPECT_FALSE(folding.admit(warning("down", "refused"), kStart + 1ms));
  EXPECT_THAT(folding.due(kStart + 59s), IsEmpty());
}

TEST(Folding, NeverFoldsAChangeOfState) {
  Folding folding;
  Entry change = warning("down", "refused");
  change.is_change = true;
  EXPECT_TRUE(folding.admit(change, kStart));
  EXPECT_TRUE(folding.admit(change, kStart + 1ms));
  EXPECT_THAT(folding.due(kStart + 60s), IsEmpty());
}

TEST(Folding, SaysOnceAMinuteHowOftenItHappened) {
  Folding folding;
  folding.admit(warning("down", "refused"), kStart);
  for (int i = 0; i < 1'000; ++i) folding.admit(warning("down", "refused"), kStart + 1s);
  const auto lines = folding.due(kStart + 60s);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(field(lines[0], "repeated"), "1000");
  EXPECT_EQ(field(lines[0], "last"), "1970-01-01T00:00:01.000Z");
  EXPECT_FALSE(folding.admit(warning("down", "refused"), kStart + 61s));
  EXPECT_THAT(folding.due(kStart + 119s), IsEmpty());
  EXPECT_THAT(folding.due(kStart + 120s), SizeIs(1));
}

TEST(Folding, ForgetsAKindThatWasQuietForAMinute) {
  Folding folding;
  folding.admit(warning("down", "refused"), kStart);
  EXPECT_THAT(folding.due(kStart + 60s), IsEmpty());
  EXPECT_TRUE(folding.admit(warning("down", "refused"), kStart + 61s));
}

TEST(Folding, TellsKindsApartByMessageCauseAndLevel) {
  Folding folding;
  EXPECT_TRUE(folding.admit(warning("down", "refused"), kStart));
  EXPECT_TRUE(folding.admit(warning("down", "timed out"), kStart));
  EXPECT_TRUE(folding.admit(warning("slow", "refused"), kStart));
  Entry error = warning("down", "refused");
  error.level = Level::error;
  EXPECT_TRUE(folding.admit(error, kStart));
}

TEST(Folding, LeavesInformationAlone) {
  Folding folding;
  Entry info = warning("up", "");
  info.level = Level::info;
  EXPECT_TRUE(folding.admit(info, kStart));
  EXPECT_TRUE(folding.admit(info, kStart));
}

TEST(Folding, StopsFoldingNewKindsAtItsBound) {
  Folding folding;
  for (std::size_t i = 0; i < Folding::kKindsMax; ++i) {
    folding.admit(warning("down", std::to_string(i)), kStart);
  }
  EXPECT_TRUE(folding.admit(warning("down", "one more"), kStart));
  EXPECT_TRUE(folding.admit(warning("down", "one more"), kStart));
  EXPECT_FALSE(folding.admit(warning("down", "0"), kStart));
}

TEST(Folding, GivesEverythingUpAtTheEnd) {
  Folding folding;
  folding.admit(warning("down", "refused"), kStart);
  folding.admit(warning("down", "refused"), kStart);
  EXPECT_THAT(folding.drain(), SizeIs(1));
  EXPECT_THAT(folding.drain(), IsEmpty());
}

}  // namespace
}  // namespace order_timeout::telemetry
