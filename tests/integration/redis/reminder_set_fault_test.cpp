// Redis goes away, hangs, answers nonsense or is cut off in the middle: every call ends within its
// deadline with a Failure, the loop is never blocked, and the same object serves again once Redis
// does.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <memory>

#include "integration/redis/reminder_fixture.hpp"
#include "support/tcp_proxy.hpp"

namespace order_timeout::redis {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

class FailingReminders : public Reminders {
 protected:
  Failure failure_of(Awaitable<std::int64_t> call) {
    const auto answer = await(std::move(call));
    return answer ? Failure{FailureKind::overloaded, "no failure at all", ""} : answer.error();
  }
};

TEST_F(FailingReminders, FailAtOnceWhereNoServerEverWas) {
  auto socket = reminders_at("unix:///nowhere/redis.sock");
  auto options = patient();
  options.connect_timeout = Duration{5'000};
  auto port = reminders_at("redis://127.0.0.1:1", options);
  const auto start = Clock::now();
  EXPECT_EQ(failure_of(socket.server_time()).kind, FailureKind::unavailable);
  const Failure refused = failure_of(port.server_time());
  EXPECT_EQ(refused.kind, FailureKind::unavailable);
  EXPECT_THAT(refused.detail, HasSubstr("refused"));
  EXPECT_THAT(failure_of(port.server_time()).detail, HasSubstr("next try in"));
  EXPECT_LT(since(start), 2s);
}

TEST_F(FailingReminders, DoNotBlockTheLoopOverANameThatIsNoHost) {
  auto reminders = reminders_at("redis://no-such-host.invalid");
  const auto start = Clock::now();
  const Failure failure = failure_of(reminders.server_time());
  EXPECT_TRUE(failure.kind == FailureKind::unavailable || failure.kind == FailureKind::timed_out);
  EXPECT_LT(since(start), 2s);
}

TEST_F(FailingReminders, ServeAgainEmptyAfterARestart) {
  test::RedisServer server;
  auto reminders = reminders_at(server.url());
  server.zadd(kKey, 1, "a");
  ASSERT_EQ(await(reminders.due(0, 10, 0, 10)).value().reminders.size(), 1U);
  server.stop();
  EXPECT_EQ(failure_of(reminders.server_time()).kind, FailureKind::unavailable);
  server.start();
  ASSERT_TRUE(comes_back(reminders));
  EXPECT_EQ(await(reminders.due(0, 10, 0, 10)).value().reminders.size(), 0U);
}

TEST_F(FailingReminders, OutliveAWriteToAServerThatHasJustDied) {
  std::signal(SIGPIPE, SIG_DFL);
  test::RedisServer server;
  auto reminders = reminders_at(server.url());
  ASSERT_TRUE(await(reminders.server_time()));
  server.kill();
  EXPECT_EQ(failure_of(reminders.server_time()).kind, FailureKind::unavailable);
}

TEST_F(FailingReminders, GiveUpAHungServerAfterTheirDeadlineAndComeBackWithIt) {
  test::RedisServer server;
  auto reminders = reminders_at(server.url(), patient());
  ASSERT_TRUE(await(reminders.server_time()));
  server.pause();
  const auto start = Clock::now();
  const Failure late = failure_of(reminders.server_time());
  EXPECT_EQ(late.kind, FailureKind::timed_out);
  EXPECT_THAT(late.detail, HasSubstr("TIME: no answer within 300ms"));
  EXPECT_GE(since(start), 300ms);
  EXPECT_LT(since(start), 2s);
  const auto next = Clock::now();
  EXPECT_EQ(failure_of(reminders.server_time()).kind, FailureKind::unavailable);
  EXPECT_LT(since(next), 250ms);
  server.resume();
  EXPECT_TRUE(comes_back(reminders));
}

TEST_F(FailingReminders, WaitAtMostOneSecondUnlessToldOtherwise) {
  test::RedisServer server;
  auto reminders = reminders_at(server.url(), Connection::Options{});
  ASSERT_TRUE(await(reminders.server_time()));
  server.pause();
  const auto start = Clock::now();
  EXPECT_EQ(failure_of(reminders.server_time()).kind, FailureKind::timed_out);
  EXPECT_GE(since(start), 1s);
  EXPECT_LT(since(start), 3s);
}

TEST_F(FailingReminders, GiveUpAConnectThatIsNeverGreeted) {
  test::RedisServer server{{.tcp = false, .requirepass = "s3cret", .arguments = {}}};
  auto reminders = reminders_at(server.url());
  server.pause();
  const Failure late = failure_of(reminders.server_time());
  EXPECT_EQ(late.kind, FailureKind::timed_out);
  EXPECT_THAT(late.detail, HasSubstr("connect"));
  server.resume();
  EXPECT_TRUE(comes_back(reminders));
}

TEST_F(FailingReminders, TakeNoMoreCallsThanTheirBound) {
  test::RedisServer server;
  auto options = hasty();
  options.calls_max = 2;
  auto reminders = reminders_at(server.url(), options);
  ASSERT_TRUE(await(reminders.server_time()));
  server.pause();
  const auto first = test::start_on(loop_, reminders.server_time());
  const auto second = test::start_on(loop_, reminders.server_time());
  EXPECT_EQ(failure_of(reminders.server_time()).kind, FailureKind::overloaded);
  ASSERT_TRUE(test::run_until(loop_, [&] { return first->is_there() && second->is_there(); }));
  EXPECT_FALSE(*first->value);
  EXPECT_FALSE(*second->value);
  server.resume();
  EXPECT_TRUE(comes_back(reminders));
}

TEST_F(FailingReminders, GiveTheNextCallItsOwnReplyAfterACancelledOne) {
  test::RedisServer server;
  server.zadd(kKey, 1, "a");
  auto reminders = reminders_at(server.url());
  ASSERT_TRUE(await(reminders.server_time()));
  server.pause();
  auto ended = std::make_shared<bool>(false);
  auto outcome = std::make_shared<test::Outcome<Result<ReminderPage>>>();
  boost::asio::cancellation_signal cancel;
  auto call = test::keep_outcome(reminders.due(0, 10, 0, 10), outcome);
  auto told = [ended](std::exception_ptr) { *ended = true; };
  boost::asio::co_spawn(loop_, std::move(call),
                        boost::asio::bind_cancellation_slot(cancel.slot(), told));
  loop_.restart();
  loop_.poll();
  ASSERT_FALSE(*ended);
  cancel.emit(boost::asio::cancellation_type::terminal);
  ASSERT_TRUE(test::run_until(
      loop_, [&] { return *ended; }, 250ms));
  server.resume();
  EXPECT_GT(await(reminders.server_time()).value(), 0);
}

TEST_F(FailingReminders, EndEveryCallWhenStopped) {
  test::RedisServer server;
  auto reminders = reminders_at(server.url());
  ASSERT_TRUE(await(reminders.server_time()));
  server.pause();
  const auto call = test::start_on(loop_, reminders.server_time());
  loop_.restart();
  loop_.poll();
  const auto start = Clock::now();
  reminders.stop();
  reminders.stop();
  ASSERT_TRUE(test::run_until(loop_, [&] { return call->is_there(); }));
  EXPECT_EQ(call->value->error().kind, FailureKind::unavailable);
  EXPECT_EQ(failure_of(reminders.server_time()).detail, "stopped");
  EXPECT_LT(since(start), 250ms);
}

TEST_F(FailingReminders, MayBeDestroyedUnderACall) {
  test::RedisServer server;
  auto reminders =
      std::make_unique<ReminderSet>(loop_.get_executor(), config_for(server.url()), hasty());
  ASSERT_TRUE(await(reminders->server_time()));
  const auto sent = test::start_on(loop_, reminders->server_time());
  loop_.restart();
  loop_.poll_one();
  const auto connecting =
      std::make_unique<ReminderSet>(loop_.get_executor(), config_for(server.url()), hasty());
  const auto waiting = test::start_on(loop_, connecting->server_time());
  reminders.reset();
  EXPECT_TRUE(test::run_until(loop_, [&] { return sent->is_there() && waiting->is_there(); }));
}

// Answers each connection with the same bytes, whatever it asks.
class FixedAnswer {
 public:
  FixedAnswer(boost::asio::io_context& loop, std::string answer)
      : answer_(std::move(answer)),
        acceptor_(loop, {boost::asio::ip::address_v4::loopback(), 0}),
        client_(loop) {
    acceptor_.async_accept(client_, [this](boost::system::error_code error) {
      if (error) return;
      boost::system::error_code ignored;
      boost::asio::write(client_, boost::asio::buffer(answer_), ignored);
    });
  }
  std::string url() const {
    return "redis://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

 private:
  std::string answer_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::ip::tcp::socket client_;
};

TEST_F(FailingReminders, AreUnavailableWhereTheServerIsNoRedis) {
  const FixedAnswer http(loop_, "HTTP/1.1 400 Bad Request\r\n\r\n");
  auto reminders = reminders_at(http.url());
  const Failure failure = failure_of(reminders.server_time());
  EXPECT_EQ(failure.kind, FailureKind::unavailable);
  EXPECT_THAT(failure.detail, HasSubstr("Protocol error"));
}

TEST_F(FailingReminders, AreRejectedWhereTheReplyHasAnotherShape) {
  const FixedAnswer odd(loop_, "*2\r\n:1\r\n*1\r\n$-1\r\n");
  auto reminders = reminders_at(odd.url());
  const Failure failure = failure_of(reminders.server_time());
  EXPECT_EQ(failure.kind, FailureKind::rejected);
  EXPECT_THAT(failure.detail, HasSubstr("unexpected reply"));
}

TEST_F(FailingReminders, NameTheCodesOfAClusterAndOfALoadingServer) {
  for (const std::string code : {"LOADING", "MOVED", "ASK", "CLUSTERDOWN"}) {
    const FixedAnswer refusal(loop_, "-" + code + " 42 127.0.0.1:6381\r\n");
    auto reminders = reminders_at(refusal.url());
    const Failure failure = failure_of(reminders.server_time());
    EXPECT_EQ(failure.kind, FailureKind::unavailable);
    EXPECT_THAT(failure.detail, ::testing::StartsWith(code));
  }
}

class ProxiedReminders : public FailingReminders {
 protected:
  test::RedisServer server_;
  test::TcpProxy proxy_{test::ProxyRoute{{"", 0}, {server_.socket_path(), 0}}};
  ReminderSet reminders_ = reminders_at("redis://127.0.0.1:" + std::to_string(proxy_.port()));
};

TEST_F(ProxiedReminders, ComeBackAfterEveryConnectionWasCut) {
  ASSERT_TRUE(await(reminders_.server_time()));
  proxy_.cut_all();
  EXPECT_TRUE(comes_back(reminders_));
  EXPECT_EQ(proxy_.accepted(), 2U);
}

TEST_F(ProxiedReminders, FailWhereTheReplyBreaksOffInTheMiddle) {
  for (int i = 0; i < 50; ++i) server_.zadd(kKey, i, "M" + std::to_string(i));
  ASSERT_TRUE(await(reminders_.server_time()));
  proxy_.cut_after(test::Way::to_client, 200);
  const auto page = await(reminders_.due(0, 100, 0, 100));
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().kind, FailureKind::unavailable);
  ASSERT_TRUE(comes_back(reminders_));
  EXPECT_EQ(await(reminders_.due(0, 100, 0, 100)).value().reminders.size(), 50U);
}

TEST_F(ProxiedReminders, MayHaveBeenRemovedWhereTheAnswerGotLost) {
  server_.zadd(kKey, 1, "a");
  ASSERT_TRUE(await(reminders_.server_time()));
  proxy_.cut_when_client_sends("EVAL", test::LastBytes::forwarded);
  std::vector<Reminder> one{{"a", 1}};
  EXPECT_FALSE(await(reminders_.remove_unchanged(one)));
  ASSERT_TRUE(comes_back(reminders_));
  EXPECT_TRUE(await(reminders_.remove_unchanged(one)));
  EXPECT_EQ(server_.zcard(kKey), 0);
}

TEST_F(ProxiedReminders, GiveUpAnAnswerThatIsSwallowed) {
  ASSERT_TRUE(await(reminders_.server_time()));
  proxy_.swallow_answers(true);
  EXPECT_EQ(failure_of(reminders_.server_time()).kind, FailureKind::timed_out);
  proxy_.swallow_answers(false);
  EXPECT_TRUE(comes_back(reminders_));
}

}  // namespace
}  // namespace order_timeout::redis
