// Each code word of an error reply has its kind of failure: a row of the table, a row here. The
// detail names the code, and nothing that a server says to AUTH gets into it.
#include "redis/classify.hpp"

#include <gmock/gmock.h>

#include <string>

namespace order_timeout::redis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Expected {
  std::string error;
  FailureKind kind;
  bool reconnect;
  std::string remedy;
};

class RedisErrorCode : public ::testing::TestWithParam<Expected> {};

TEST_P(RedisErrorCode, HasItsKindAndNamesItself) {
  const Expected& expected = GetParam();
  const Classified classified = classify(expected.error);
  EXPECT_EQ(classified.failure.kind, expected.kind) << to_string(classified.failure.kind);
  EXPECT_EQ(classified.reconnect, expected.reconnect);
  EXPECT_THAT(classified.failure.detail, StartsWith(expected.error));
  EXPECT_THAT(classified.failure.detail, HasSubstr(expected.remedy));
  EXPECT_EQ(classified.failure.sqlstate, "");
}

constexpr auto kDown = FailureKind::unavailable;
constexpr auto kRejected = FailureKind::rejected;

INSTANTIATE_TEST_SUITE_P(
    Row, RedisErrorCode,
    ::testing::Values(
        Expected{"LOADING Redis is loading the dataset in memory", kDown, false, "wait"},
        Expected{"READONLY You can't write against a read only replica.", kDown, true, "primary"},
        Expected{"MASTERDOWN Link with MASTER is down", kDown, false, "replica"},
        Expected{"NOAUTH Authentication required.", kDown, true, "password"},
        Expected{"WRONGPASS invalid username-password pair", kDown, true, "redis.url"},
        Expected{"NOPERM this user has no permissions", kDown, false, "may not"},
        Expected{"DENIED Redis is running in protected mode", kDown, true, "protected mode"},
        Expected{"MOVED 3999 127.0.0.1:6381", kDown, false, "cluster"},
        Expected{"ASK 3999 127.0.0.1:6381", kDown, false, "cluster"},
        Expected{"CLUSTERDOWN Hash slot not served", kDown, false, "cluster"},
        Expected{"CROSSSLOT Keys in request", kDown, false, "cluster"},
        Expected{"WRONGTYPE Operation against a key", kDown, false, "redis.zset"},
        Expected{"BUSY Redis is busy running a script", kDown, false, "script"},
        Expected{"MISCONF Redis is configured to save", kDown, false, "refuses writes"},
        Expected{"NOREPLICAS Not enough good replicas", kDown, false, "replicas"},
        Expected{"TRYAGAIN Multiple keys request", FailureKind::conflict, false, "again"},
        Expected{"OOM command not allowed", kRejected, false, "maxmemory"},
        Expected{"NOSCRIPT No matching script", kRejected, false, "scripts"},
        Expected{"EXECABORT Transaction discarded", kRejected, false, "discarded"},
        Expected{"ERR max number of clients reached", kDown, true, "maxclients"},
        Expected{"ERR unknown command 'ZSCAN'", kRejected, false, "does not take"}));

TEST(RedisError, OfAnUnknownCodeIsRejectedAndToldAsItIs) {
  const Classified classified = classify("STRANGE days");
  EXPECT_EQ(classified.failure.kind, FailureKind::rejected);
  EXPECT_EQ(classified.failure.detail, "STRANGE days");
  EXPECT_FALSE(classified.reconnect);
}

TEST(RedisError, CodeIsAWholeWord) {
  EXPECT_EQ(classify("OOMPH").failure.detail, "OOMPH");
  EXPECT_EQ(classify("LOADING").failure.kind, FailureKind::unavailable);
}

TEST(RedisError, IsToldInOnePrintableLineOfBoundedLength) {
  const std::string detail =
      classify("ERR a\nb\xff\x1b[31m" + std::string(1000, 'x')).failure.detail;
  EXPECT_THAT(detail, StartsWith("ERR a?b??[31m"));
  EXPECT_LT(detail.size(), 200U);
}

TEST(RedisHandshakeError, IsUnavailableByNameWithoutTheServersText) {
  const Failure failure = classify_handshake("AUTH", "WRONGPASS for s3cret");
  EXPECT_EQ(failure.kind, FailureKind::unavailable);
  EXPECT_THAT(failure.detail, StartsWith("AUTH refused: WRONGPASS ("));
  EXPECT_THAT(failure.detail, Not(HasSubstr("s3cret")));
}

TEST(RedisHandshakeError, KeepsQuietWhereTheServerRepeatsTheArguments) {
  EXPECT_EQ(classify_handshake("AUTH", "ERR unknown command 'AUTH' with args 's3cret'").detail,
            "AUTH refused: ERR");
  EXPECT_EQ(classify_handshake("AUTH", "s3cret").detail, "AUTH refused");
}

}  // namespace
}  // namespace order_timeout::redis
