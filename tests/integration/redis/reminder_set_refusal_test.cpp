// A Redis that refuses us is named by what it says, secrets excepted, and serves again as soon as
// it is mended.
#include "integration/redis/reminder_fixture.hpp"

namespace order_timeout::redis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class RefusedReminders : public Reminders {
 protected:
  // The Failure of a read.
  Failure failure_of(ReminderSet& reminders) {
    const auto page = await(reminders.due(0, 10, 0, 10));
    return page ? Failure{FailureKind::overloaded, "no failure at all", ""} : page.error();
  }

  Failure failure_of_removal(ReminderSet& reminders) {
    std::vector<Reminder> one{{"a", 1}};
    const auto removed = await(reminders.remove_unchanged(one));
    return removed ? Failure{FailureKind::overloaded, "no failure at all", ""} : removed.error();
  }
};

TEST_F(RefusedReminders, SayWrongtypeUntilTheKeyIsASetAgain) {
  const test::RedisServer server;
  auto reminders = reminders_at(server.url());
  server.command({"SET", kKey, "text"});
  EXPECT_EQ(failure_of(reminders).kind, FailureKind::unavailable);
  EXPECT_THAT(failure_of(reminders).detail, StartsWith("WRONGTYPE"));
  EXPECT_THAT(failure_of_removal(reminders).detail, StartsWith("WRONGTYPE"));
  server.command({"DEL", kKey});
  EXPECT_TRUE(await(reminders.due(0, 10, 0, 10)));
}

class GuardedReminders : public RefusedReminders {
 protected:
  std::string url_with(const std::string& credentials) const {
    return "unix://" + credentials + "@" + server_.socket_path();
  }

  test::RedisServer server_{{.tcp = false, .requirepass = "s3cret", .arguments = {}}};
};

TEST_F(GuardedReminders, OpenWithThePassword) {
  auto reminders = reminders_at(server_.url());
  EXPECT_TRUE(await(reminders.server_time()));
  auto by_name = reminders_at(url_with("default:s3cret"));
  EXPECT_TRUE(await(by_name.server_time()));
}

TEST_F(GuardedReminders, SayWrongpassWithoutSayingThePassword) {
  auto reminders = reminders_at(url_with(":guessed"), patient());
  const Failure first = failure_of(reminders);
  EXPECT_EQ(first.kind, FailureKind::unavailable);
  EXPECT_THAT(first.detail, StartsWith("AUTH refused: WRONGPASS"));
  const Failure second = failure_of(reminders);
  EXPECT_THAT(second.detail, HasSubstr("WRONGPASS"));
  EXPECT_THAT(second.detail, HasSubstr("next try in"));
  EXPECT_THAT(first.detail + second.detail, Not(HasSubstr("guessed")));
}

TEST_F(GuardedReminders, SayNoauthWhereThePasswordIsMissing) {
  auto reminders = reminders_at("unix://" + server_.socket_path());
  const Failure failure = failure_of(reminders);
  EXPECT_EQ(failure.kind, FailureKind::unavailable);
  EXPECT_THAT(failure.detail, StartsWith("NOAUTH"));
}

TEST_F(GuardedReminders, SayNopermForACommandTheUserMayNot) {
  server_.command({"ACL", "SETUSER", "shop", "on", ">pw", "~*", "+zrangebyscore", "+zscore"});
  auto reminders = reminders_at(url_with("shop:pw"));
  EXPECT_TRUE(await(reminders.due(0, 10, 0, 10)));
  const Failure failure = failure_of_removal(reminders);
  EXPECT_EQ(failure.kind, FailureKind::unavailable);
  EXPECT_THAT(failure.detail, StartsWith("NOPERM"));
  EXPECT_TRUE(await(reminders.due(0, 10, 0, 10)));
}

TEST_F(GuardedReminders, OpenForAUserWithJustTheCommandsOfTheHeader) {
  server_.command({"ACL", "SETUSER", "shop", "on", ">p:w", "~delay:*", "+zrangebyscore", "+zscan",
                   "+zscore", "+zrem", "+eval", "+time"});
  auto reminders = reminders_at(url_with("shop:p%3Aw"));
  server_.zadd(kKey, 1, "a");
  std::vector<Reminder> one{{"a", 1}};
  std::vector<std::string> names{"a"};
  EXPECT_TRUE(await(reminders.due(0, 10, 0, 10)));
  EXPECT_TRUE(await(reminders.scan(0)));
  EXPECT_TRUE(await(reminders.scores(names)));
  EXPECT_TRUE(await(reminders.server_time()));
  EXPECT_EQ(await(reminders.remove_unchanged(one)).value(), 1);
}

TEST_F(RefusedReminders, SayReadonlyOnAReplicaWhichStillReads) {
  const test::RedisServer server;
  server.zadd(kKey, 1, "a");
  server.command({"REPLICAOF", "127.0.0.1", "1"});
  auto reminders = reminders_at(server.url());
  EXPECT_TRUE(await(reminders.due(0, 10, 0, 10)));
  const Failure failure = failure_of_removal(reminders);
  EXPECT_EQ(failure.kind, FailureKind::unavailable);
  EXPECT_THAT(failure.detail, StartsWith("READONLY"));
  server.command({"REPLICAOF", "NO", "ONE"});
  ASSERT_TRUE(comes_back(reminders));
  std::vector<Reminder> one{{"a", 1}};
  EXPECT_EQ(await(reminders.remove_unchanged(one)).value(), 1);
}

TEST_F(RefusedReminders, SayMasterdownWhereAReplicaWillNotServeOldEntries) {
  const test::RedisServer server{
      {.tcp = false, .requirepass = "", .arguments = {"--replica-serve-stale-data", "no"}}};
  server.command({"REPLICAOF", "127.0.0.1", "1"});
  auto reminders = reminders_at(server.url());
  EXPECT_EQ(failure_of(reminders).kind, FailureKind::unavailable);
  EXPECT_THAT(failure_of(reminders).detail, StartsWith("MASTERDOWN"));
}

TEST_F(RefusedReminders, AreReadAndRemovedWhileTheMemoryIsFull) {
  const test::RedisServer server{
      {.tcp = false, .requirepass = "", .arguments = {"--maxmemory", "3mb"}}};
  auto reminders = reminders_at(server.url());
  server.zadd(kKey, 1, "a");
  EXPECT_THROW(
      for (int i = 0; i < 100; ++i) {
        server.command({"SET", "fill" + std::to_string(i), std::string(100'000, 'x')});
      },
      std::runtime_error);
  std::vector<Reminder> one{{"a", 1}};
  EXPECT_EQ(await(reminders.due(0, 10, 0, 10)).value().reminders.size(), 1U);
  EXPECT_EQ(await(reminders.remove_unchanged(one)).value(), 1);
}

TEST_F(RefusedReminders, AreUnavailableWhileTheServerTakesNoMoreClients) {
  const test::RedisServer server{
      {.tcp = false, .requirepass = "", .arguments = {"--maxclients", "1"}}};
  auto first = reminders_at(server.url());
  ASSERT_TRUE(await(first.server_time()));
  auto second = reminders_at(server.url());
  // Its reason may be overtaken by the end of the connection.
  EXPECT_EQ(failure_of(second).kind, FailureKind::unavailable);
  first.stop();
  EXPECT_TRUE(comes_back(second));
}

TEST_F(RefusedReminders, SayWhatIsWrongWithTheUrl) {
  auto reminders = reminders_at("rediss://:s3cret@h");
  EXPECT_EQ(failure_of(reminders).kind, FailureKind::rejected);
  EXPECT_THAT(failure_of(reminders).detail, StartsWith("redis.url: "));
}

}  // namespace
}  // namespace order_timeout::redis
