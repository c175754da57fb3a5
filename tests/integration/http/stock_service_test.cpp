// The stock service that the other tests rely on: one effect a key, whatever is asked how often,
// and faults that begin and end when told.
#include "support/stock_service.hpp"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>

#include "http/client.hpp"
#include "support/loop.hpp"

namespace order_timeout::stock {
namespace {

using http::Client;
using http::HttpAnswer;
using http::HttpFailure;
using http::HttpRequest;
using http::HttpResult;
using std::chrono::milliseconds;

class StockServiceTest : public testing::Test {
 protected:
  HttpResult ask(const StockService& service, HttpRequest request) {
    Client::Options options;
    options.url.host = "127.0.0.1";
    options.url.port = std::to_string(service.port());
    options.url.authority = "127.0.0.1";
    Client client(loop_.get_executor(), options);
    return test::run_on(loop_, client.request(std::move(request)));
  }

  int post(const StockService& service, const std::string& target, const std::string& body,
           const std::string& key = "") {
    HttpRequest request;
    request.target = target;
    request.body = body;
    if (!key.empty()) request.headers.emplace_back("Idempotency-Key", key);
    const auto result = ask(service, std::move(request));
    const auto* answer = std::get_if<HttpAnswer>(&result);
    return answer == nullptr ? 0 : answer->status;
  }

  int release(const StockService& service, const std::string& key) {
    return post(service, "/stock/release", R"({"order_id":1,"items":[{"sku_id":7,"qty":2}]})", key);
  }

  boost::asio::io_context loop_{1};
};

TEST_F(StockServiceTest, AppliesAKeyOnceAndSaysSoTheSecondTime) {
  StockService service;
  EXPECT_EQ(release(service, "a"), 200);
  EXPECT_EQ(release(service, "a"), 409);
  EXPECT_EQ(service.calls("a"), 2);
  EXPECT_EQ(service.effects("a"), 1);
}

TEST_F(StockServiceTest, AnswersARepeatAsConfigured) {
  StockService::Options options;
  options.repeat_status = 200;
  StockService service(options);
  EXPECT_EQ(release(service, "a"), 200);
  EXPECT_EQ(release(service, "a"), 200);
  EXPECT_EQ(service.effects("a"), 1);
}

TEST_F(StockServiceTest, RefusesACallWithoutKeyBodyOrAgreementOfTheTwo) {
  StockService service;
  EXPECT_EQ(post(service, "/stock/release", R"({"order_id":1})"), 400);
  EXPECT_EQ(post(service, "/stock/release", "what", "a"), 400);
  EXPECT_EQ(post(service, "/stock/release", R"({"order_id":1,"event_id":"b"})", "a"), 422);
  EXPECT_EQ(service.totals().effects, 0);
}

TEST_F(StockServiceTest, ShowsItsBooks) {
  StockService service;
  release(service, "a");
  release(service, "a");
  release(service, "b");
  HttpRequest request;
  request.method = "GET";
  request.target = "/books";
  const auto result = ask(service, std::move(request));
  ASSERT_TRUE(std::holds_alternative<HttpAnswer>(result));
  const auto books = boost::json::parse(std::get<HttpAnswer>(result).body).as_object();
  EXPECT_EQ(books.at("calls").as_int64(), 3);
  EXPECT_EQ(books.at("keys").as_int64(), 2);
  EXPECT_EQ(books.at("repeated_keys").as_int64(), 1);
  EXPECT_EQ(books.at("effects").as_int64(), 2);
  EXPECT_EQ(books.at("units").as_int64(), 4);
}

TEST_F(StockServiceTest, TakesAFaultOverHttp) {
  StockService service;
  EXPECT_EQ(post(service, "/fault", R"({"kind":"status","status":503})"), 200);
  EXPECT_EQ(release(service, "a"), 503);
  EXPECT_EQ(post(service, "/fault", R"({"kind":"none"})"), 200);
  EXPECT_EQ(release(service, "a"), 200);
}

TEST_F(StockServiceTest, RefusesAFaultThatIsNoneOrThatNobodyCouldEnd) {
  StockService service;
  EXPECT_EQ(post(service, "/fault", R"({"kind":"flu"})"), 400);
  EXPECT_EQ(post(service, "/fault", "down"), 400);
  EXPECT_EQ(post(service, "/fault", R"({"kind":"down"})"), 400);
  EXPECT_EQ(release(service, "a"), 200);
}

TEST_F(StockServiceTest, ComesUpAgainOnTheSamePortWhenAFaultHasLasted) {
  StockService service;
  ASSERT_EQ(post(service, "/fault", R"({"kind":"down","lasts_ms":300})"), 200);
  EXPECT_EQ(release(service, "a"), 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  int status = 0;
  while (status == 0 && std::chrono::steady_clock::now() < end) {
    boost::asio::steady_timer timer(loop_, milliseconds(50));
    timer.wait();
    status = release(service, "a");
  }
  EXPECT_EQ(status, 200);
}

TEST_F(StockServiceTest, LosesEachSecondAnswerAfterApplyingIt) {
  StockService service;
  Fault fault;
  fault.kind = FaultKind::lose_answer;
  fault.every = 2;
  service.set_fault(fault);
  EXPECT_EQ(release(service, "a"), 200);
  EXPECT_EQ(release(service, "b"), 0);
  EXPECT_EQ(release(service, "c"), 200);
  EXPECT_EQ(service.effects("b"), 1);
}

TEST_F(StockServiceTest, WaitsForCalls) {
  StockService service;
  EXPECT_FALSE(service.wait_for_calls(1, milliseconds(0)));
  release(service, "a");
  EXPECT_TRUE(service.wait_for_calls(1, milliseconds(0)));
}

}  // namespace
}  // namespace order_timeout::stock
