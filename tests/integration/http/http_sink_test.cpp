// The HTTP sink against the stock service: what each fault makes of an event, and that the same key
// sent again sets things right with exactly one effect.
#include "http/http_sink.hpp"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>

#include "support/loop.hpp"
#include "support/raw_server.hpp"
#include "support/stock_service.hpp"

namespace order_timeout::http {
namespace {

using std::chrono::milliseconds;
using stock::Fault;
using stock::FaultKind;
using testing::Eq;
using testing::Optional;

OutboxEvent event_of(int order) {
  OutboxEvent event;
  event.event_key = std::to_string(order) + ":RELEASE_STOCK";
  event.order_id = order;
  event.body = R"({"event_id":")" + event.event_key + R"(","order_id":)" + std::to_string(order) +
               R"(,"items":[{"sku_id":1,"qty":2}]})";
  return event;
}

class HttpSinkTest : public testing::Test {
 protected:
  std::unique_ptr<HttpSink> sink_to(const std::string& url) {
    SinkConfig config;
    config.url = url;
    config.connect_timeout = milliseconds(300);
    config.read_timeout = milliseconds(1'500);
    config.headers["Authorization"] = "Bearer s3cret";
    auto made = HttpSink::make(loop_.get_executor(), config);
    return std::move(*made);
  }

  DeliveryOutcome deliver(HttpSink& sink, int order = 1) {
    return test::run_on(loop_, sink.deliver(event_of(order)));
  }

  boost::asio::io_context loop_{1};
  stock::StockService service_;
};

void expect_outcome(const DeliveryOutcome& outcome, DeliveryKind kind, bool attempt_spent) {
  EXPECT_EQ(to_string(outcome.kind), to_string(kind)) << outcome.detail;
  EXPECT_EQ(outcome.attempt_spent, attempt_spent) << outcome.detail;
}

TEST_F(HttpSinkTest, PostsTheEventWithItsKeyAndTheConfiguredHeaders) {
  const auto sink = sink_to(service_.url());
  expect_outcome(deliver(*sink), DeliveryKind::done, true);
  const auto seen = service_.last_request();
  EXPECT_EQ(seen.target, "/stock/release");
  EXPECT_EQ(seen.headers.at("idempotency-key"), "1:RELEASE_STOCK");
  EXPECT_EQ(seen.headers.at("content-type"), "application/json");
  EXPECT_EQ(seen.headers.at("authorization"), "Bearer s3cret");
  EXPECT_EQ(seen.body, event_of(1).body);
  EXPECT_EQ(service_.totals().units, 2);
}

TEST_F(HttpSinkTest, TakesTheSecondDeliveryAsDoneAlready) {
  const auto sink = sink_to(service_.url());
  deliver(*sink);
  expect_outcome(deliver(*sink), DeliveryKind::already_done, true);
  EXPECT_EQ(service_.calls("1:RELEASE_STOCK"), 2);
  EXPECT_EQ(service_.effects("1:RELEASE_STOCK"), 1);
}

struct FaultRow {
  FaultKind fault;
  int status;
  const char* retry_after;
  DeliveryKind kind;
  bool attempt_spent;
  int effects;  // of the call that met the fault
};

class EachFault : public HttpSinkTest, public testing::WithParamInterface<FaultRow> {};

TEST_P(EachFault, HasItsOutcomeAndTheSameKeyAgainEndsWithOneEffect) {
  const FaultRow& row = GetParam();
  const auto sink = sink_to(service_.url());
  Fault fault;
  fault.kind = row.fault;
  fault.status = row.status;
  fault.retry_after = row.retry_after;
  fault.delay = milliseconds(60'000);
  service_.set_fault(fault);
  expect_outcome(deliver(*sink), row.kind, row.attempt_spent);
  EXPECT_EQ(service_.effects("1:RELEASE_STOCK"), row.effects);
  service_.clear_fault();
  expect_outcome(deliver(*sink), row.effects == 0 ? DeliveryKind::done : DeliveryKind::already_done,
                 true);
  EXPECT_EQ(service_.effects("1:RELEASE_STOCK"), 1);
}

using K = DeliveryKind;
using F = FaultKind;
INSTANTIATE_TEST_SUITE_P(NothingApplied, EachFault,
                         testing::Values(FaultRow{F::down, 0, "", K::retry, false, 0},
                                         FaultRow{F::hang, 0, "", K::uncertain, true, 0},
                                         FaultRow{F::slow, 0, "", K::uncertain, true, 0},
                                         FaultRow{F::status, 500, "", K::retry, true, 0},
                                         FaultRow{F::status, 503, "", K::retry, true, 0},
                                         FaultRow{F::status, 503, "2", K::throttled, false, 0},
                                         FaultRow{F::status, 503, "-1", K::throttled, false, 0},
                                         FaultRow{F::status, 429, "", K::throttled, false, 0},
                                         FaultRow{F::status, 408, "", K::retry, false, 0},
                                         FaultRow{F::status, 425, "", K::retry, false, 0},
                                         FaultRow{F::status, 401, "", K::unhealthy, false, 0},
                                         FaultRow{F::status, 403, "", K::unhealthy, false, 0},
                                         FaultRow{F::status, 400, "", K::rejected, true, 0},
                                         FaultRow{F::status, 404, "", K::rejected, true, 0},
                                         FaultRow{F::status, 422, "", K::rejected, true, 0},
                                         FaultRow{F::redirect, 0, "", K::rejected, true, 0}));
INSTANTIATE_TEST_SUITE_P(Applied, EachFault,
                         testing::Values(FaultRow{F::lose_answer, 0, "", K::uncertain, true, 1},
                                         FaultRow{F::apply_then_delay, 0, "", K::uncertain, true,
                                                  1},
                                         FaultRow{F::truncated_body, 0, "", K::uncertain, true, 1},
                                         FaultRow{F::oversized_body, 0, "", K::uncertain, true, 1},
                                         FaultRow{F::endless_head, 0, "", K::uncertain, true, 1},
                                         FaultRow{F::garbage, 0, "", K::uncertain, true, 1},
                                         FaultRow{F::drip, 0, "", K::uncertain, true, 1},
                                         FaultRow{F::status, 202, "", K::done, true, 1}));

TEST_F(HttpSinkTest, HandsOnHowLongTheSinkAsksToWait) {
  const auto sink = sink_to(service_.url());
  Fault busy;
  busy.kind = FaultKind::status;
  busy.status = 429;
  busy.retry_after = "7";
  service_.set_fault(busy);
  EXPECT_THAT(deliver(*sink).retry_after, Optional(Eq(milliseconds(7'000))));
}

TEST_F(HttpSinkTest, SpendsNoAttemptOnASinkThatCannotBeReached) {
  const test::FullBacklog full;
  const auto slow = sink_to("http://127.0.0.1:" + std::to_string(full.port()) + "/x");
  expect_outcome(deliver(*slow), DeliveryKind::retry, false);
  const auto nowhere = sink_to("http://no..such..name/x");
  expect_outcome(deliver(*nowhere), DeliveryKind::retry, false);
}

TEST_F(HttpSinkTest, DeliversManyEventsAtOnceWithOneEffectEachThoughEveryThirdAnswerIsLost) {
  const auto sink = sink_to(service_.url());
  Fault fault;
  fault.kind = FaultKind::lose_answer;
  fault.every = 3;
  service_.set_fault(fault);
  int done = 0;
  int uncertain = 0;
  for (int order = 0; order < 60; ++order) {
    boost::asio::co_spawn(loop_, sink->deliver(event_of(order)),
                          [&](std::exception_ptr, DeliveryOutcome outcome) {
                            done += outcome.kind == DeliveryKind::done ? 1 : 0;
                            uncertain += outcome.kind == DeliveryKind::uncertain ? 1 : 0;
                          });
  }
  loop_.run_for(std::chrono::seconds(20));
  EXPECT_EQ(done, 40);
  EXPECT_EQ(uncertain, 20);
  EXPECT_EQ(service_.totals().effects, 60);
}

}  // namespace
}  // namespace order_timeout::http
