// Replies are read into values whatever they hold: odd scores and members come through, a wrong
// shape is a Failure and never an exception.
#include "redis/reply.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace order_timeout::redis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Reply text(std::string value) { return {ReplyKind::text, std::move(value), 0, {}}; }
Reply integer(std::int64_t value) { return {ReplyKind::integer, "", value, {}}; }
Reply array(std::vector<Reply> elements) { return {ReplyKind::array, "", 0, std::move(elements)}; }

TEST(ParseScore, ReadsWhatRedisWrites) {
  EXPECT_EQ(parse_score("1764521326123"), 1764521326123.0);
  EXPECT_EQ(parse_score("-1.5"), -1.5);
  EXPECT_EQ(parse_score("1.0000000000000001e+300"), 1.0000000000000001e+300);
  EXPECT_EQ(parse_score("inf"), kInfinity);
  EXPECT_EQ(parse_score("-inf"), -kInfinity);
}

TEST(ParseScore, RefusesWhatIsNoNumber) {
  for (const char* wrong : {"", "nan", "-nan", "x", "1x", " 1", "1 ", "0x10", "1e999"}) {
    EXPECT_EQ(parse_score(wrong), std::nullopt) << wrong;
  }
}

TEST(ScoreText, ComesBackAsTheSameDouble) {
  for (const double score : {0.0, -0.0, 0.1, 1.0 / 3, 9007199254740993.0, 1e300, -1e-300,
                             std::numeric_limits<double>::denorm_min(),
                             std::numeric_limits<double>::max(), kInfinity, -kInfinity}) {
    EXPECT_EQ(parse_score(score_text(score)), score) << score_text(score);
  }
}

TEST(ReadPage, GivesMembersWithTheirScoresInOrder) {
  const auto page =
      read_page(array({text("A"), text("1"), text(std::string("\0\xff", 2)), text("inf")}));
  ASSERT_TRUE(page);
  ASSERT_EQ(page->reminders.size(), 2U);
  EXPECT_EQ(page->reminders[0].member, "A");
  EXPECT_EQ(page->reminders[0].score, 1);
  EXPECT_EQ(page->reminders[1].member, std::string("\0\xff", 2));
  EXPECT_EQ(page->reminders[1].score, kInfinity);
  EXPECT_EQ(page->cursor, 0U);
}

TEST(ReadPage, RefusesAnotherShape) {
  EXPECT_FALSE(read_page(integer(1)));
  EXPECT_FALSE(read_page(array({text("A")})));
  EXPECT_FALSE(read_page(array({text("A"), text("x")})));
  EXPECT_FALSE(read_page(array({text("A"), integer(1)})));
  EXPECT_FALSE(read_page(array({array({}), text("1")})));
  EXPECT_EQ(read_page(text("")).error().kind, FailureKind::rejected);
}

TEST(ReadScan, GivesTheCursorInItsWholeRange) {
  const auto page = read_scan(array({text("18446744073709551615"), array({text("A"), text("1")})}));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->cursor, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(page->reminders.size(), 1U);
}

TEST(ReadScan, RefusesAnotherShape) {
  EXPECT_FALSE(read_scan(array({})));
  EXPECT_FALSE(read_scan(array({text("x"), array({})})));
  EXPECT_FALSE(read_scan(array({text("-1"), array({})})));
  EXPECT_FALSE(read_scan(array({text("0"), text("A")})));
}

TEST(ReadScore, TellsAnAbsentMemberFromAWrongReply) {
  const auto absent = read_score(Reply{});
  ASSERT_TRUE(absent);
  EXPECT_FALSE(absent->has_value());
  EXPECT_EQ(read_score(text("2.5")).value(), 2.5);
  EXPECT_FALSE(read_score(text("x")));
  EXPECT_FALSE(read_score(integer(1)));
}

TEST(ReadCount, TakesAnIntegerOnly) {
  EXPECT_EQ(read_count(integer(7)).value(), 7);
  EXPECT_FALSE(read_count(text("7")));
}

TEST(ReadTime, GivesMillisecondsRoundedDown) {
  EXPECT_EQ(read_time_ms(array({text("1764521326"), text("123999")})).value(), 1764521326123);
}

TEST(ReadTime, RefusesWhatIsNoTime) {
  EXPECT_FALSE(read_time_ms(array({text("1")})));
  EXPECT_FALSE(read_time_ms(array({text("x"), text("0")})));
  EXPECT_FALSE(read_time_ms(array({text("-1"), text("0")})));
  EXPECT_FALSE(read_time_ms(array({text("1"), text("1000000")})));
  EXPECT_FALSE(read_time_ms(array({text("9223372036854775807"), text("0")})));
}

}  // namespace
}  // namespace order_timeout::redis
