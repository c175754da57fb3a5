// Proves what of a gateway's answer counts as its word: only a complete 200 whose JSON object has a
// text `status`; and that no order number can leave its place in the URL.
#include "http/payment_gateway.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace order_timeout::http {
namespace {

GatewayAnswer answered(int status, const std::string& body) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = body;
  return read_answer(answer);
}

TEST(GatewayAnswer, IsTheStatusOfAJsonObject) {
  const GatewayAnswer answer = answered(200, R"({"id":1,"status":"PAYING"})");
  EXPECT_EQ(answer.word, "PAYING");
  EXPECT_EQ(answer.detail, "PAYING");
  EXPECT_TRUE(answer.reached);
}

TEST(GatewayAnswer, OfAnyOtherBodyIsNone) {
  for (const char* body :
       {"", "NONE", "\"NONE\"", "<html>NONE</html>", "[]", "{}", R"({"Status":"NONE"})",
        R"({"status":null})", R"({"status":1})", R"({"status":["NONE"]})", R"({"status":"NONE")"}) {
    EXPECT_EQ(answered(200, body).word, std::nullopt) << body;
  }
  EXPECT_EQ(answered(200, R"({"status":")" + std::string(101, 'x') + "\"}").word, std::nullopt);
}

TEST(GatewayAnswer, OfAnyOtherStatusIsNone) {
  for (const int status : {201, 202, 204, 302, 400, 404, 429, 500, 503}) {
    const GatewayAnswer answer = answered(status, R"({"status":"NONE"})");
    EXPECT_EQ(answer.word, std::nullopt) << status;
    EXPECT_EQ(answer.reached, status < 500);
    EXPECT_EQ(answer.detail, "HTTP " + std::to_string(status));
  }
}

TEST(GatewayAnswer, OfAFailureSaysWhatFailed) {
  const GatewayAnswer answer =
      read_answer(HttpFailure{Phase::read, HttpFailureKind::timed_out, true, "late"});
  EXPECT_EQ(answer.word, std::nullopt);
  EXPECT_FALSE(answer.reached);
  EXPECT_EQ(answer.detail, std::string(to_string(Phase::read)) + ' ' +
                               std::string(to_string(HttpFailureKind::timed_out)) + ": late");
}

TEST(GatewayTarget, HoldsTheOrderNumberAndNothingItCouldMean) {
  EXPECT_EQ(target_for("/pay/{order_no}?of={order_no}", "SO-1"), "/pay/SO-1?of=SO-1");
  EXPECT_EQ(target_for("/{order_no}", "a/../b?c#d e&{order_no}"),
            "/a%2F..%2Fb%3Fc%23d%20e%26%7Border_no%7D");
  EXPECT_EQ(target_for("/{order_no}", "订"), "/%E8%AE%A2");
}

}  // namespace
}  // namespace order_timeout::http
