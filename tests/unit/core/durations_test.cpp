// Durations, sizes and times of day: what people may write, what they may not, and that what is
// printed reads back.
#include "order_timeout/durations.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace order_timeout {
namespace {

using namespace std::chrono_literals;

Duration duration(std::string_view text) {
  const auto parsed = parse_duration(text);
  if (const auto* mistake = std::get_if<TextMistake>(&parsed)) {
    ADD_FAILURE() << text << ": " << mistake->what;
    return Duration{-1};
  }
  return std::get<Duration>(parsed);
}

template <class T>
std::string mistake_of(const std::variant<T, TextMistake>& parsed) {
  const auto* mistake = std::get_if<TextMistake>(&parsed);
  return mistake == nullptr ? "fine" : mistake->what;
}

TEST(Durations, ReadEveryUnitAndTheirCombinations) {
  EXPECT_EQ(duration("500ms"), 500ms);
  EXPECT_EQ(duration("15s"), 15s);
  EXPECT_EQ(duration("15m"), 15min);
  EXPECT_EQ(duration("2h30m"), 150min);
  EXPECT_EQ(duration("7d"), 168h);
  EXPECT_EQ(duration("1d2h3m4s5ms"), 26h + 3min + 4s + 5ms);
  EXPECT_EQ(duration("0s"), 0ms);
  EXPECT_EQ(duration("36525d"), 36525 * 24h);
}

TEST(Durations, RefuseWhatIsNoneAndSayWhy) {
  const auto why = [](std::string_view text) { return mistake_of(parse_duration(text)); };
  EXPECT_EQ(why("30"), "a duration needs a unit: 30m");
  EXPECT_EQ(why("2h30"), "a duration needs a unit: 30m");
  EXPECT_EQ(why("0"), "a duration needs a unit: 30m");
  EXPECT_EQ(why(""), "not a duration such as 500ms, 15m or 2h30m");
  EXPECT_EQ(why("m"), "not a duration such as 500ms, 15m or 2h30m");
  EXPECT_EQ(why("-5s"), "not a duration such as 500ms, 15m or 2h30m");
  EXPECT_EQ(why("+5s"), "not a duration such as 500ms, 15m or 2h30m");
  EXPECT_EQ(why("1.5h"), "the units are ms, s, m, h and d");
  EXPECT_EQ(why("5 m"), "the units are ms, s, m, h and d");
  EXPECT_EQ(why("5M"), "the units are ms, s, m, h and d");
  EXPECT_EQ(why("1w"), "the units are ms, s, m, h and d");
  EXPECT_EQ(why("030m"), "a number with leading zeros");
  EXPECT_EQ(why("1h00m"), "a number with leading zeros");
  EXPECT_EQ(why("30m2h"), "larger units come first, each once: 2h30m");
  EXPECT_EQ(why("1m1m"), "larger units come first, each once: 2h30m");
  EXPECT_EQ(why("36526d"), "longer than 100 years");
  EXPECT_EQ(why("36525d1ms"), "longer than 100 years");
  EXPECT_EQ(why("99999999999999999999d"), "the number is too large");
  EXPECT_EQ(why("9223372036854775807d"), "longer than 100 years");
  EXPECT_EQ(why("\xd9\xa3m"), "not a duration such as 500ms, 15m or 2h30m");  // an Arabic 3
}

TEST(Durations, ReadBackWhatTheyArePrintedAs) {
  EXPECT_EQ(format_duration(0ms), "0s");
  EXPECT_EQ(format_duration(90s), "1m30s");
  EXPECT_EQ(format_duration(1500ms), "1s500ms");
  for (const std::int64_t ms : {1LL, 999LL, 1000LL, 86'399'999LL, 86'400'000LL, 34'560'000'001LL}) {
    EXPECT_EQ(duration(format_duration(Duration{ms})), Duration{ms});
  }
}

TEST(Sizes, HaveDecimalAndBinaryUnits) {
  EXPECT_EQ(std::get<std::int64_t>(parse_size("100MB")), 100'000'000);
  EXPECT_EQ(std::get<std::int64_t>(parse_size("512KiB")), 524'288);
  EXPECT_EQ(std::get<std::int64_t>(parse_size("7B")), 7);
  EXPECT_EQ(mistake_of(parse_size("100")), "a size needs a unit: 100MB");
  EXPECT_EQ(mistake_of(parse_size("MB")), "not a size such as 100MB");
  EXPECT_EQ(mistake_of(parse_size("1TB")), "the units are B, KB, MB, GB, KiB, MiB and GiB");
  EXPECT_EQ(mistake_of(parse_size("9999999999GB")), "the size is too large");
}

TEST(TimesOfDay, AreTwoDigitsAColonAndTwoDigits) {
  EXPECT_EQ(std::get<int>(parse_time_of_day("03:00")), 180);
  EXPECT_EQ(std::get<int>(parse_time_of_day("23:59")), 1439);
  for (const std::string_view bad : {"3:00", "24:00", "03:60", "03-00", "03:0a", "", "03:00:00"}) {
    EXPECT_EQ(mistake_of(parse_time_of_day(bad)), "not a time of day such as 03:00") << bad;
  }
}

TEST(Integers, AreDigitsWithinTheirRange) {
  const auto why = [](std::string_view text) { return mistake_of(parse_integer(text, {-5, 10})); };
  EXPECT_EQ(std::get<std::int64_t>(parse_integer("-5", {-5, 10})), -5);
  EXPECT_EQ(std::get<std::int64_t>(parse_integer("10", {-5, 10})), 10);
  EXPECT_EQ(why("11"), "too large");
  EXPECT_EQ(why("-6"), "too small");
  EXPECT_EQ(why("010"), "a number with leading zeros");
  EXPECT_EQ(why("1e1"), "not a whole number");
  EXPECT_EQ(why("0x5"), "not a whole number");
  EXPECT_EQ(why("1.0"), "not a whole number");
  EXPECT_EQ(why(" 1"), "not a whole number");
  EXPECT_EQ(why("-"), "not a whole number");
  EXPECT_EQ(why("9223372036854775808"), "the number is too large");
}

}  // namespace
}  // namespace order_timeout
