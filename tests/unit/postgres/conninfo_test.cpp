// Proves that a connection string of either form comes out with our bounds, that what it says
// itself is left as it is, and that one that cannot be read is not quoted.
#include "postgres/conninfo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace order_timeout::postgres {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string complete(const std::string& url, Duration connect_timeout = 3s) {
  return complete_conninfo(url, connect_timeout).value();
}

TEST(Conninfo, BoundsAUri) {
  EXPECT_THAT(complete("postgresql://u@db:5433/shop"),
              AllOf(HasSubstr("host='db'"), HasSubstr("port='5433'"), HasSubstr("dbname='shop'"),
                    HasSubstr("user='u'"), HasSubstr("connect_timeout='3'"),
                    HasSubstr("keepalives_idle='3'"), HasSubstr("keepalives_interval='2'"),
                    HasSubstr("keepalives_count='2'"), HasSubstr("tcp_user_timeout='5000'"),
                    HasSubstr("application_name='order-timeoutd'")));
}

TEST(Conninfo, BoundsKeysAndValues) {
  EXPECT_THAT(complete("host=/run/pg dbname=shop"),
              AllOf(HasSubstr("host='/run/pg'"), HasSubstr("dbname='shop'"),
                    HasSubstr("connect_timeout='3'")));
}

TEST(Conninfo, BoundsAnEmptyString) { EXPECT_THAT(complete(""), HasSubstr("connect_timeout='3'")); }

TEST(Conninfo, LeavesWhatTheStringSays) {
  EXPECT_THAT(complete("dbname=x connect_timeout=9 keepalives_idle=60 application_name=mine"),
              AllOf(HasSubstr("connect_timeout='9'"), HasSubstr("keepalives_idle='60'"),
                    HasSubstr("application_name='mine'"), Not(HasSubstr("order-timeoutd"))));
}

TEST(Conninfo, KeepsSeveralHosts) {
  EXPECT_THAT(complete("postgresql://a:1,b:2/shop?target_session_attrs=read-write"),
              AllOf(HasSubstr("host='a,b'"), HasSubstr("port='1,2'"),
                    HasSubstr("target_session_attrs='read-write'")));
}

TEST(Conninfo, RoundsTheConnectTimeoutUpToSecondsAtLeastTwo) {
  EXPECT_THAT(complete("", 100ms), HasSubstr("connect_timeout='2'"));
  EXPECT_THAT(complete("", 3001ms), HasSubstr("connect_timeout='4'"));
}

TEST(Conninfo, EscapesValues) {
  EXPECT_THAT(complete("postgresql://u:a%27b%5Cc@h/x"), HasSubstr(R"(password='a\'b\\c')"));
}

TEST(Conninfo, RefusesWithoutQuotingTheSecret) {
  const auto refused = complete_conninfo("postgresql://u:geheim%zz@h/x", 3s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, FailureKind::rejected);
  EXPECT_THAT(refused.error().detail, Not(HasSubstr("geheim")));
}

}  // namespace
}  // namespace order_timeout::postgres
