// What a healthy Redis holds comes through ReminderSet as it is, page by page, and nothing is
// removed but a member whose score is still the given one. Against a real server of the test's own.
#include <limits>
#include <set>

#include "integration/redis/reminder_fixture.hpp"

namespace order_timeout::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<std::string> members_of(const ReminderPage& page) {
  std::vector<std::string> members;
  for (const Reminder& reminder : page.reminders) members.push_back(reminder.member);
  return members;
}

class HealthyReminders : public Reminders {
 protected:
  void add(const std::string& member, double score) { server_.zadd(kKey, score, member); }

  void add_many(int count) {
    server_.command({"EVAL",
                     "for i = 1, tonumber(ARGV[1]) do redis.call('ZADD', KEYS[1], i, 'M' .. i) end",
                     "1", kKey, std::to_string(count)});
  }

  test::RedisServer server_;
  ReminderSet reminders_ = reminders_at(server_.url());
};

TEST_F(HealthyReminders, AreNoneWhereTheKeyIsAbsent) {
  EXPECT_THAT(await(reminders_.due(-kInfinity, kInfinity, 0, 10)).value().reminders, IsEmpty());
  EXPECT_EQ(await(reminders_.scan(0)).value().cursor, 0U);
}

TEST_F(HealthyReminders, ComeInScoreOrderWithBothBoundsIncluded) {
  add("early", 99);
  add("c", 300);
  add("a", 100);
  add("b", 200.5);
  add("late", 300.5);
  const auto page = await(reminders_.due(100, 300, 0, 10)).value();
  EXPECT_THAT(members_of(page), ElementsAre("a", "b", "c"));
  EXPECT_EQ(page.reminders[1].score, 200.5);
}

TEST_F(HealthyReminders, ComeInPages) {
  add_many(25);
  EXPECT_EQ(await(reminders_.due(-kInfinity, kInfinity, 0, 10)).value().reminders.size(), 10U);
  const auto last = await(reminders_.due(-kInfinity, kInfinity, 20, 10)).value();
  EXPECT_THAT(members_of(last), ElementsAre("M21", "M22", "M23", "M24", "M25"));
  EXPECT_THAT(await(reminders_.due(-kInfinity, kInfinity, 0, 0)).value().reminders, IsEmpty());
}

TEST_F(HealthyReminders, MayHaveEndlessAndHugeScores) {
  add("never", kInfinity);
  add("always", -kInfinity);
  add("huge", 1e300);
  const auto page = await(reminders_.due(-kInfinity, kInfinity, 0, 10)).value();
  EXPECT_THAT(members_of(page), ElementsAre("always", "huge", "never"));
  EXPECT_EQ(page.reminders[0].score, -kInfinity);
  EXPECT_EQ(page.reminders[1].score, 1e300);
  EXPECT_EQ(page.reminders[2].score, kInfinity);
}

TEST_F(HealthyReminders, MayBeEmptyOrBinary) {
  const std::string binary("\0\r\n\xff%s", 6);
  add("", 1);
  add(binary, 2);
  EXPECT_THAT(members_of(await(reminders_.due(0, 10, 0, 10)).value()), ElementsAre("", binary));
  std::vector<Reminder> both{{"", 1}, {binary, 2}};
  EXPECT_EQ(await(reminders_.remove_unchanged(both)).value(), 2);
  EXPECT_EQ(server_.zcard(kKey), 0);
}

TEST_F(HealthyReminders, OfAMegabyteAreCutAndDoNotHinderTheOthers) {
  const std::string whole(512, 'w');
  const std::string monster(1'000'000, 'x');
  add(whole, 1);
  add(monster, 2);
  add("after", 3);
  const auto page = await(reminders_.due(0, 10, 0, 10)).value();
  EXPECT_THAT(members_of(page), ElementsAre(whole, std::string(512, 'x'), "after"));
  std::vector<Reminder> all = page.reminders;
  EXPECT_EQ(await(reminders_.remove_unchanged(all)).value(), 2);
  EXPECT_EQ(server_.zscore(kKey, monster), "2");
}

TEST_F(HealthyReminders, AreAllSeenByAScan) {
  add_many(5'000);
  std::set<std::string> seen;
  std::uint64_t cursor = 0;
  int steps = 0;
  do {
    const auto page = await(reminders_.scan(cursor)).value();
    for (const Reminder& reminder : page.reminders) seen.insert(reminder.member);
    cursor = page.cursor;
    ++steps;
  } while (cursor != 0);
  EXPECT_EQ(seen.size(), 5'000U);
  EXPECT_GT(steps, 3);
}

TEST_F(HealthyReminders, TellTheirScoresAndLeaveOutWhoIsNotThere) {
  add("a", 1);
  add("b", kInfinity);
  std::vector<std::string> members{"a", "gone", "b"};
  const auto scores = await(reminders_.scores(members)).value();
  EXPECT_THAT(scores, ElementsAre(Pair("a", 1), Pair("b", kInfinity)));
  EXPECT_THAT(await(reminders_.scores({})).value(), IsEmpty());
}

TEST_F(HealthyReminders, TellScoresOfMoreThanOneBatch) {
  add_many(1'201);
  std::vector<std::string> members;
  for (int i = 1; i <= 1'201; ++i) members.push_back("M" + std::to_string(i));
  const auto scores = await(reminders_.scores(members)).value();
  EXPECT_EQ(scores.size(), 1'201U);
  EXPECT_EQ(scores.at("M1201"), 1'201);
}

TEST_F(HealthyReminders, StayWhereTheirScoreHasChanged) {
  add("same", 100);
  add("extended", 100);
  std::vector<Reminder> read{{"same", 100}, {"extended", 100}, {"never there", 1}};
  add("extended", 100.00000000000001);
  EXPECT_EQ(await(reminders_.remove_unchanged(read)).value(), 1);
  EXPECT_EQ(server_.zscore(kKey, "same"), "(nil)");
  EXPECT_NE(server_.zscore(kKey, "extended"), "(nil)");
}

TEST_F(HealthyReminders, AreRemovedByTheScoreThatWasReadWhateverItIs) {
  for (const double score : {0.1, -0.0, 1.0 / 3, 9007199254740993.0, 1764521326123.0, 1e300, 5e-324,
                             kInfinity, -kInfinity}) {
    add(score_text(score), score);
  }
  const auto page = await(reminders_.due(-kInfinity, kInfinity, 0, 100)).value();
  ASSERT_EQ(page.reminders.size(), 9U);
  EXPECT_EQ(await(reminders_.remove_unchanged(page.reminders)).value(), 9);
  EXPECT_EQ(server_.zcard(kKey), 0);
}

TEST_F(HealthyReminders, AreRemovedInBatches) {
  add_many(1'201);
  const auto page = await(reminders_.due(0, kInfinity, 0, 2'000)).value();
  EXPECT_EQ(await(reminders_.remove_unchanged(page.reminders)).value(), 1'201);
  EXPECT_EQ(await(reminders_.remove_unchanged({})).value(), 0);
  EXPECT_EQ(server_.zcard(kKey), 0);
}

TEST_F(HealthyReminders, ComeWithTheServersClock) {
  const auto here = std::chrono::system_clock::now().time_since_epoch();
  const auto there = std::chrono::milliseconds(await(reminders_.server_time()).value());
  EXPECT_LT(std::chrono::abs(there - here), std::chrono::seconds(5));
}

TEST_F(HealthyReminders, AreNoneAfterAFlush) {
  add("a", 1);
  EXPECT_EQ(await(reminders_.due(0, 10, 0, 10)).value().reminders.size(), 1U);
  server_.command({"FLUSHALL"});
  EXPECT_THAT(await(reminders_.due(0, 10, 0, 10)).value().reminders, IsEmpty());
  std::vector<Reminder> gone{{"a", 1}};
  EXPECT_EQ(await(reminders_.remove_unchanged(gone)).value(), 0);
}

TEST_F(HealthyReminders, AreThoseOfTheDatabaseInTheUrl) {
  add("a", 1);
  server_.command({"MOVE", kKey, "3"});
  auto third = reminders_at(server_.url() + "?db=3");
  EXPECT_THAT(await(reminders_.due(0, 10, 0, 10)).value().reminders, IsEmpty());
  EXPECT_THAT(members_of(await(third.due(0, 10, 0, 10)).value()), ElementsAre("a"));
}

TEST_F(HealthyReminders, AnswerManyCallsAtOnceEachWithItsOwnReply) {
  add_many(100);
  std::vector<std::shared_ptr<test::Outcome<Result<ReminderPage>>>> outcomes;
  for (int i = 1; i <= 100; ++i) {
    outcomes.push_back(test::start_on(loop_, reminders_.due(i, i, 0, 10)));
  }
  ASSERT_TRUE(test::run_until(loop_, [&] {
    return std::ranges::all_of(outcomes, [](const auto& outcome) { return outcome->is_there(); });
  }));
  for (int i = 1; i <= 100; ++i) {
    const auto& page = outcomes[static_cast<std::size_t>(i - 1)]->value.value().value();
    EXPECT_THAT(members_of(page), ElementsAre("M" + std::to_string(i)));
  }
}

class TcpReminders : public Reminders {
 protected:
  test::RedisServer server_{{.tcp = true, .requirepass = "", .arguments = {}}};
};

TEST_F(TcpReminders, ComeOverTcpByAddressAndByName) {
  server_.zadd(kKey, 1, "a");
  auto by_address = reminders_at(server_.url());
  auto by_name = reminders_at("redis://localhost:" + std::to_string(server_.port()) + "/0");
  EXPECT_THAT(members_of(await(by_address.due(0, 10, 0, 10)).value()), ElementsAre("a"));
  EXPECT_THAT(members_of(await(by_name.due(0, 10, 0, 10)).value()), ElementsAre("a"));
}

}  // namespace
}  // namespace order_timeout::redis
