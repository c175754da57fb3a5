// A sink's URL: what is taken apart how, and that everything that could send a request elsewhere is
// refused.
#include "http/url.hpp"

#include <gmock/gmock.h>

namespace order_timeout::http {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ParseUrl, TakesHostPortPathAndQueryApart) {
  const auto url = parse_url("http://stock.internal:8081/stock/release?shop=1");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "stock.internal");
  EXPECT_EQ(url->port, "8081");
  EXPECT_EQ(url->target, "/stock/release?shop=1");
  EXPECT_EQ(url->authority, "stock.internal:8081");
}

TEST(ParseUrl, TakesPort80AndTheRootWhereNoneIsGiven) {
  const auto url = parse_url("HTTP://127.0.0.1");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->port, "80");
  EXPECT_EQ(url->target, "/");
  EXPECT_EQ(url->authority, "127.0.0.1");
}

TEST(ParseUrl, PutsAPathBeforeAQueryThatHasNone) {
  const auto url = parse_url("http://a?b=c");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->target, "/?b=c");
}

TEST(ParseUrl, TakesAnAddressOfVersion6InBrackets) {
  const auto url = parse_url("http://[::1]:8081/x");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, "8081");
  EXPECT_EQ(url->authority, "[::1]:8081");
}

class RefusedUrl : public testing::TestWithParam<const char*> {};

TEST_P(RefusedUrl, IsRejected) {
  const auto url = parse_url(GetParam());
  ASSERT_FALSE(url) << GetParam();
  EXPECT_EQ(url.error().kind, FailureKind::rejected);
}

INSTANTIATE_TEST_SUITE_P(All, RefusedUrl,
                         testing::Values("", "127.0.0.1:8081", "https://a/", "ftp://a/", "http://",
                                         "http:///x", "http://:80/", "http://a:/", "http://a:0/",
                                         "http://a:65536/", "http://a:8x/", "http://a:80:81/",
                                         "http://user:secret@a/", "http://user@a/", "http://a/#b",
                                         "http://a/b c", "http://a/b\r\nX: y", "http://a/\xc3\xa4",
                                         "http://[::1/", "http://[::1]x/", "http://[g]/",
                                         "http://a\\b/", "http://[]/"));

TEST(ParseUrl, NeverRepeatsASecret) {
  const auto url = parse_url("http://user:s3cret@a/");
  ASSERT_FALSE(url);
  EXPECT_THAT(url.error().detail, Not(HasSubstr("s3cret")));
}

}  // namespace
}  // namespace order_timeout::http
