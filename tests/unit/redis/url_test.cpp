// Every form of redis.url is read into its parts, and no refusal repeats any of it: the text holds
// a password.
#include "redis/url.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace order_timeout::redis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RedisUrl, HasTheUsualPortAndDatabaseWhereNoneIsNamed) {
  const auto url = parse_url("redis://cache.example");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "cache.example");
  EXPECT_EQ(url->port, 6379);
  EXPECT_EQ(url->database, 0);
  EXPECT_EQ(url->password, "");
  EXPECT_EQ(url->path, "");
}

TEST(RedisUrl, ReadsUserPasswordPortAndDatabase) {
  const auto url = parse_url("redis://shop:s3cret@10.0.0.1:6380/7");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->user, "shop");
  EXPECT_EQ(url->password, "s3cret");
  EXPECT_EQ(url->host, "10.0.0.1");
  EXPECT_EQ(url->port, 6380);
  EXPECT_EQ(url->database, 7);
}

TEST(RedisUrl, TakesAPasswordOfTheDefaultUser) {
  const auto url = parse_url("redis://:s3cret@h");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->user, "");
  EXPECT_EQ(url->password, "s3cret");
}

TEST(RedisUrl, DecodesPercentSignsInThePassword) {
  const auto url = parse_url("redis://:a%40b%2Fc%25@h");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->password, "a@b/c%");
}

TEST(RedisUrl, TakesAPasswordWithAnAtSignAndAColon) {
  const auto url = parse_url("redis://u:a@b:c@h:1");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->password, "a@b:c");
  EXPECT_EQ(url->host, "h");
}

TEST(RedisUrl, TakesAnIpv6AddressInBrackets) {
  const auto url = parse_url("redis://[::1]:6380/2");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, 6380);
  EXPECT_EQ(url->database, 2);
}

TEST(RedisUrl, ReadsTheSocketAndItsDatabase) {
  const auto url = parse_url("unix://u:p@/run/redis/redis%20a.sock?db=3");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->path, "/run/redis/redis a.sock");
  EXPECT_EQ(url->database, 3);
  EXPECT_EQ(url->user, "u");
  EXPECT_EQ(url->password, "p");
  EXPECT_EQ(url->host, "");
}

TEST(RedisUrl, SaysWhichPartIsWrongAndNeverRepeatsTheText) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "must begin"},
      {"s3cret", "must begin"},
      {"http://:s3cret@h", "must begin"},
      {"rediss://:s3cret@h", "TLS"},
      {"redis://:s3cret@", "host"},
      {"redis://:s3cret@:6379", "host"},
      {"redis://:s3cret@h:0", "port"},
      {"redis://:s3cret@h:65536", "port"},
      {"redis://:s3cret@h:", "port"},
      {"redis://:s3cret@h:1x", "port"},
      {"redis://:s3cret@[::1", "bracket"},
      {"redis://:s3cret@[::1]x", "port"},
      {"redis://:s3cret@h/x", "database"},
      {"redis://:s3cret@h/-1", "database"},
      {"redis://:s3cret@h/70000", "database"},
      {"redis://:s3cret%@h", "password"},
      {"redis://:s3cret%4g@h", "password"},
      {"redis://s3cret%zz:p@h", "user"},
      {"unix://:s3cret@", "path"},
      {"unix:///a?x=s3cret", "?db=N"},
      {"unix:///a?db=s3cret", "database"},
      {"unix:///" + std::string(107, 'a'), "107"},
  };
  for (const auto& [text, part] : wrong) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().kind, FailureKind::rejected);
    EXPECT_THAT(url.error().detail, HasSubstr("redis.url: "));
    EXPECT_THAT(url.error().detail, HasSubstr(part));
    EXPECT_THAT(url.error().detail, Not(HasSubstr("s3cret")));
  }
}

}  // namespace
}  // namespace order_timeout::redis
