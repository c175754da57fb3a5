// What each answer and each failure of a sink means for the event: the rows of "HTTP to a sink",
// one by one.
#include "http/delivery_table.hpp"

#include <gmock/gmock.h>

#include <string>

namespace order_timeout::http {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::Eq;
using testing::Optional;
using testing::SizeIs;

constexpr std::int64_t kNow = 1'796'058'000;  // Mon, 30 Nov 2026 17:00:00 GMT
using K = DeliveryKind;

struct AnswerRow {
  int status;
  const char* retry_after;  // nullptr: no such header
  DeliveryKind kind;
  bool attempt_spent;
};

class AnswerTable : public testing::TestWithParam<AnswerRow> {};

TEST_P(AnswerTable, GivesEachAnswerItsMeaning) {
  const AnswerRow& row = GetParam();
  HttpAnswer answer;
  answer.status = row.status;
  if (row.retry_after != nullptr) answer.retry_after = row.retry_after;
  const auto outcome = classify(answer, {409, 410}, kNow);
  EXPECT_EQ(to_string(outcome.kind), to_string(row.kind)) << row.status;
  EXPECT_EQ(outcome.attempt_spent, row.attempt_spent) << row.status;
  EXPECT_FALSE(outcome.recorded);
}

INSTANTIATE_TEST_SUITE_P(Complete2xxIsDone, AnswerTable,
                         testing::Values(AnswerRow{200, nullptr, K::done, true},
                                         AnswerRow{201, nullptr, K::done, true},
                                         AnswerRow{202, nullptr, K::done, true},
                                         AnswerRow{204, nullptr, K::done, true},
                                         AnswerRow{299, "5", K::done, true}));
INSTANTIATE_TEST_SUITE_P(DoneCodesAreDoneAlready, AnswerTable,
                         testing::Values(AnswerRow{409, nullptr, K::already_done, true},
                                         AnswerRow{410, "5", K::already_done, true}));
INSTANTIATE_TEST_SUITE_P(NotNowSpendsNoAttempt, AnswerTable,
                         testing::Values(AnswerRow{408, nullptr, K::retry, false},
                                         AnswerRow{425, nullptr, K::retry, false},
                                         AnswerRow{429, nullptr, K::throttled, false},
                                         AnswerRow{408, "5", K::throttled, false},
                                         AnswerRow{425, "5", K::throttled, false},
                                         AnswerRow{429, "5", K::throttled, false}));
INSTANTIATE_TEST_SUITE_P(ServerErrorsSpendAnAttemptUnlessTheyAskToWait, AnswerTable,
                         testing::Values(AnswerRow{500, nullptr, K::retry, true},
                                         AnswerRow{502, nullptr, K::retry, true},
                                         AnswerRow{503, nullptr, K::retry, true},
                                         AnswerRow{504, nullptr, K::retry, true},
                                         AnswerRow{599, nullptr, K::retry, true},
                                         AnswerRow{503, "5", K::throttled, false},
                                         AnswerRow{500, "soon", K::throttled, false}));
INSTANTIATE_TEST_SUITE_P(RefusedCredentialsSpendNoEvent, AnswerTable,
                         testing::Values(AnswerRow{401, nullptr, K::unhealthy, false},
                                         AnswerRow{403, nullptr, K::unhealthy, false},
                                         AnswerRow{403, "5", K::unhealthy, false}));
INSTANTIATE_TEST_SUITE_P(OtherClientErrorsAndRedirectsAreForGood, AnswerTable,
                         testing::Values(AnswerRow{400, nullptr, K::rejected, true},
                                         AnswerRow{404, nullptr, K::rejected, true},
                                         AnswerRow{422, nullptr, K::rejected, true},
                                         AnswerRow{499, nullptr, K::rejected, true},
                                         AnswerRow{301, nullptr, K::rejected, true},
                                         AnswerRow{302, nullptr, K::rejected, true},
                                         AnswerRow{304, nullptr, K::rejected, true},
                                         AnswerRow{307, nullptr, K::rejected, true}));

TEST(Classify, TreatsA409ThatIsNoDoneCodeAsForGood) {
  HttpAnswer answer;
  answer.status = 409;
  EXPECT_EQ(classify(answer, {}, kNow).kind, DeliveryKind::rejected);
}

struct FailureRow {
  Phase phase;
  HttpFailureKind kind;
  bool sent;
};

HttpResult failed(const FailureRow& row) {
  return HttpFailure{row.phase, row.kind, row.sent, "why"};
}

class NothingSent : public testing::TestWithParam<FailureRow> {};

TEST_P(NothingSent, IsRetriedAndSpendsNoAttempt) {
  const auto outcome = classify(failed(GetParam()), {409}, kNow);
  EXPECT_EQ(to_string(outcome.kind), "retry");
  EXPECT_FALSE(outcome.attempt_spent);
}

using F = HttpFailureKind;
INSTANTIATE_TEST_SUITE_P(All, NothingSent,
                         testing::Values(FailureRow{Phase::resolve, F::refused, false},
                                         FailureRow{Phase::resolve, F::timed_out, false},
                                         FailureRow{Phase::connect, F::refused, false},
                                         FailureRow{Phase::connect, F::timed_out, false},
                                         FailureRow{Phase::write, F::lost, false},
                                         FailureRow{Phase::write, F::timed_out, false}));

class SomethingSent : public testing::TestWithParam<FailureRow> {};

TEST_P(SomethingSent, IsUncertainAndSpendsAnAttempt) {
  const auto outcome = classify(failed(GetParam()), {409}, kNow);
  EXPECT_EQ(to_string(outcome.kind), "uncertain");
  EXPECT_TRUE(outcome.attempt_spent);
}

INSTANTIATE_TEST_SUITE_P(All, SomethingSent,
                         testing::Values(FailureRow{Phase::write, F::lost, true},
                                         FailureRow{Phase::write, F::timed_out, true},
                                         FailureRow{Phase::read, F::timed_out, true},
                                         FailureRow{Phase::read, F::lost, true},
                                         FailureRow{Phase::read, F::unreadable, true},
                                         FailureRow{Phase::read, F::too_big, true}));

TEST(Classify, NamesCodeOrCause) {
  HttpAnswer answer;
  answer.status = 503;
  EXPECT_EQ(classify(answer, {}, kNow).detail, "HTTP 503");
  EXPECT_EQ(classify(failed({Phase::read, F::timed_out, true}), {}, kNow).detail,
            "read timed_out: why");
}

TEST(Classify, BoundsTheDetail) {
  const HttpFailure failure{Phase::read, F::lost, true, std::string(10'000, 'x')};
  EXPECT_THAT(classify(failure, {}, kNow).detail, SizeIs(200));
}

TEST(Classify, HandsOnWhatTheSinkAsksFor) {
  HttpAnswer answer;
  answer.status = 503;
  answer.retry_after = "7";
  EXPECT_THAT(classify(answer, {}, kNow).retry_after, Optional(Eq(seconds(7))));
}

TEST(Classify, CountsADateFromTheAnswersOwnClock) {
  HttpAnswer answer;
  answer.status = 503;
  answer.date = "Mon, 30 Nov 2026 16:59:50 GMT";
  answer.retry_after = "Mon, 30 Nov 2026 17:00:00 GMT";
  EXPECT_THAT(classify(answer, {}, kNow - 500).retry_after, Optional(Eq(seconds(10))));
}

TEST(Classify, CountsADateFromOurClockWhereTheAnswerHasNone) {
  HttpAnswer answer;
  answer.status = 503;
  answer.retry_after = "Mon, 30 Nov 2026 17:00:00 GMT";
  EXPECT_THAT(classify(answer, {}, kNow - 20).retry_after, Optional(Eq(seconds(20))));
}

TEST(RetryAfter, TakesWholeSeconds) {
  EXPECT_THAT(parse_retry_after("0", kNow), Optional(Eq(seconds(0))));
  EXPECT_THAT(parse_retry_after("120", kNow), Optional(Eq(seconds(120))));
}

TEST(RetryAfter, IsAnHourAtMost) {
  EXPECT_THAT(parse_retry_after("3601", kNow), Optional(Eq(hours(1))));
  EXPECT_THAT(parse_retry_after("99999999999999999999999999", kNow), Optional(Eq(hours(1))));
  EXPECT_THAT(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", kNow), Optional(Eq(hours(1))));
}

TEST(RetryAfter, IsZeroForADateGoneBy) {
  EXPECT_THAT(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", kNow), Optional(Eq(seconds(0))));
}

TEST(RetryAfter, IsNothingWhereItIsNeither) {
  for (const char* text : {"", "-5", "+5", "1.5", "5 s", " 5", "soon", "0x10", "2026-11-30"}) {
    EXPECT_EQ(parse_retry_after(text, kNow), std::nullopt) << text;
  }
}

TEST(HttpDate, TakesAllThreeFormsOfTheStandard) {
  EXPECT_THAT(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Optional(784'111'777));
  EXPECT_THAT(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), Optional(784'111'777));
  EXPECT_THAT(parse_http_date("Sun Nov  6 08:49:37 1994"), Optional(784'111'777));
}

TEST(HttpDate, TakesNothingElse) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT and more"), std::nullopt);
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 CET"), std::nullopt);
  EXPECT_EQ(parse_http_date("Sun, 66 Nov 1994 08:49:37 GMT"), std::nullopt);
}

}  // namespace
}  // namespace order_timeout::http
