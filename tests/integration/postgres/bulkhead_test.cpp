// Proves the bounds of the bulkhead against a real server: what is reserved, how many connections
// there are at most, how long a call waits, how each way of failing is named, and how it stops.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "integration/postgres/bulkhead_fixture.hpp"

namespace order_timeout::postgres {
namespace {

using ::testing::HasSubstr;

class BulkheadTest : public BulkheadFixture {
 protected:
  template <class Outcomes>
  bool all_there(const Outcomes& outcomes) {
    return run_until([&] {
      return std::ranges::all_of(outcomes, [](const auto& one) { return one->is_there(); });
    });
  }
};

const std::string kShortWork = "SELECT 'done' FROM pg_sleep(0.1)";
const std::string kLongWork = "SELECT 'done' FROM pg_sleep(4)";

TEST_F(BulkheadTest, GivesWhatTheWorkGives) {
  EXPECT_EQ(await(ask(Use::discovery, "SELECT 'yes'")).value(), "yes");
}

TEST_F(BulkheadTest, OpensAConnectionWhenOneIsNeeded) {
  bulkhead();
  EXPECT_EQ(backends(), 0);
  await(ask(Use::discovery, "SELECT 1")).value();
  await(ask(Use::discovery, "SELECT 1")).value();
  EXPECT_EQ(backends(), 1);
  EXPECT_EQ(bulkhead().counters().open, 1);
}

TEST_F(BulkheadTest, NeverHasMoreConnectionsThanConfigured) {
  config_.acquire_timeout = 20s;
  std::vector<std::shared_ptr<test::Outcome<Result<std::string>>>> calls;
  for (int i = 0; i < 10; ++i) {
    for (const Use use : {Use::closing, Use::discovery, Use::sink}) {
      calls.push_back(start(ask(use, "SELECT 'done' FROM pg_sleep(0.01)")));
    }
  }
  EXPECT_TRUE(all_there(calls));
  for (const auto& call : calls) EXPECT_EQ(call->value->value(), "done");
  EXPECT_EQ(backends(), 3);
}

TEST_F(BulkheadTest, KeepsAConnectionForClosingWhateverElseWaits) {
  for (int i = 0; i < 5; ++i) {
    start(ask(Use::sink, kLongWork));
    start(ask(Use::discovery, kLongWork));
  }
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(await(ask(Use::closing, "SELECT 'closed'")).value(), "closed");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
}

TEST_F(BulkheadTest, KeepsAConnectionForDiscoveryWhateverElseWaits) {
  for (int i = 0; i < 5; ++i) {
    start(ask(Use::sink, kLongWork));
    start(ask(Use::closing, kLongWork));
  }
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(await(ask(Use::discovery, "SELECT 'found'")).value(), "found");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
}

TEST_F(BulkheadTest, RefusesACallThatNoConnectionTakesWithinTheAcquireTimeout) {
  config_.acquire_timeout = 300ms;
  start(ask(Use::sink, kLongWork));
  const Result<std::string> second = await(ask(Use::sink, "SELECT 1"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, FailureKind::overloaded);
  EXPECT_EQ(bulkhead().counters().queued, 0);
}

TEST_F(BulkheadTest, RefusesACallWhenTooManyWait) {
  std::vector<std::shared_ptr<test::Outcome<Result<std::string>>>> calls;
  for (int i = 0; i < 300; ++i) calls.push_back(start(ask(Use::sink, kShortWork)));
  run_until([&] { return calls.back()->is_there(); });
  ASSERT_TRUE(calls.back()->value);
  EXPECT_EQ(calls.back()->value->error().kind, FailureKind::overloaded);
}

TEST_F(BulkheadTest, BoundsWhatAStatementMayTake) {
  config_.statement_timeout = 50ms;
  const Result<std::string> slow = await(ask(Use::discovery, kLongWork));
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().kind, FailureKind::timed_out);
  EXPECT_EQ(slow.error().sqlstate, "57014");
  EXPECT_EQ(await(ask(Use::discovery, "SELECT 'fine'")).value(), "fine");
  EXPECT_EQ(bulkhead().counters().reconnects, 0);
}

TEST_F(BulkheadTest, SaysUnknownWhereAWriteLostItsConnection) {
  const pid_t pid = backend_of(Use::closing);
  const auto writing = start(tell(Use::closing, "SELECT pg_sleep(5)"));
  const std::string active =
      "SELECT count(*) > 0 FROM pg_stat_activity WHERE state = 'active' AND pid = " +
      std::to_string(pid);
  ASSERT_TRUE(testing::wait_for(looking_, active));
  looking_.exec("SELECT pg_terminate_backend(" + std::to_string(pid) + ")");
  ASSERT_TRUE(run_until([&] { return writing->is_there(); }));
  EXPECT_EQ(writing->value->error().kind, FailureKind::unknown);
}

TEST_F(BulkheadTest, SaysUnavailableWhereAReadLostItsConnection) {
  const Result<std::string> lost =
      await(ask(Use::closing, "SELECT pg_terminate_backend(pg_backend_pid())"));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().kind, FailureKind::unavailable);
  EXPECT_EQ(await(ask(Use::closing, "SELECT 'again'")).value(), "again");
  EXPECT_TRUE(run_until([&] { return bulkhead().counters().lost == 0; }));
  EXPECT_EQ(await(ask(Use::closing, "SELECT 'anew'")).value(), "anew");
  EXPECT_EQ(bulkhead().counters().reconnects, 1);
}

TEST_F(BulkheadTest, NoticesBeforeAWriteThatItsIdleConnectionWasEnded) {
  const pid_t pid = backend_of(Use::closing);
  looking_.exec("SELECT pg_terminate_backend(" + std::to_string(pid) + ", 5000)");
  EXPECT_EQ(await(tell(Use::closing, "SELECT 'written'")).value(), "written");
}

TEST_F(BulkheadTest, ReplacesAConnectionAtItsAgeWithoutOneTooMany) {
  config_.max_lifetime = 1ms;
  const pid_t first = backend_of(Use::closing);
  const pid_t second = backend_of(Use::closing);
  EXPECT_NE(first, second);
  EXPECT_EQ(backends(), 1);
  EXPECT_EQ(bulkhead().counters().reconnects, 0);
}

TEST_F(BulkheadTest, BoundsASession) {
  EXPECT_EQ(await(ask(Use::closing,
                      "SELECT concat_ws(' ', current_setting('statement_timeout'),"
                      " current_setting('lock_timeout'),"
                      " current_setting('idle_in_transaction_session_timeout'),"
                      " current_setting('TimeZone'), current_setting('application_name'))"))
                .value(),
            "5s 500ms 10s UTC order-timeoutd");
}

TEST_F(BulkheadTest, FailsEveryCallWhereTheUrlCannotBeRead) {
  config_.url = "postgresql://h/%zz";
  const Result<std::string> refused = await(ask(Use::closing, "SELECT 1"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, FailureKind::rejected);
}

TEST_F(BulkheadTest, DoesNotWaitLongForAServerThatTakesAConnectionAndSaysNothing) {
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listening, generic, size), 0);
  ASSERT_EQ(::listen(listening, 5), 0);
  ASSERT_EQ(::getsockname(listening, generic, &size), 0);
  config_.url = "host=127.0.0.1 user=x port=" + std::to_string(ntohs(address.sin_port));
  const auto began = std::chrono::steady_clock::now();
  const Result<std::string> mute = await(ask(Use::closing, "SELECT 1", 100ms));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 6s);
  ASSERT_FALSE(mute);
  EXPECT_THAT(mute.error().kind,
              ::testing::AnyOf(FailureKind::unavailable, FailureKind::timed_out));
  ::close(listening);
}

TEST_F(BulkheadTest, AnswersACallerThatIsCancelledAtOnce) {
  using asio::experimental::awaitable_operators::operator||;
  asio::steady_timer soon(loop_);
  soon.expires_after(50ms);
  const auto began = std::chrono::steady_clock::now();
  auto either = ask(Use::closing, kLongWork) || soon.async_wait(asio::use_awaitable);
  EXPECT_EQ(await(std::move(either)).index(), 1U);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
  EXPECT_TRUE(run_until([&] { return bulkhead().counters().busy == 0; }));
}

asio::awaitable<bool> stopped(Bulkhead& bulkhead, Duration deadline) {
  co_await bulkhead.stop(deadline);
  co_return true;
}

TEST_F(BulkheadTest, LetsRunningWorkEndWhenItStopsAndTakesNoMore) {
  const auto running = start(ask(Use::closing, kShortWork));
  run_until([&] { return bulkhead().counters().busy == 1; });
  EXPECT_TRUE(await(stopped(bulkhead(), 5s)));
  ASSERT_TRUE(running->value);
  EXPECT_EQ(running->value->value(), "done");
  EXPECT_EQ(await(ask(Use::closing, "SELECT 1")).error().kind, FailureKind::unavailable);
}

TEST_F(BulkheadTest, CutsWorkThatOutlastsItsStop) {
  const auto running = start(ask(Use::closing, "SELECT pg_sleep(8)"));
  const std::string active =
      "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE '%sleep(8)%'"
      " AND pid <> pg_backend_pid()";
  run_until([&] { return bulkhead().counters().busy == 1; });
  ASSERT_TRUE(testing::wait_for(looking_, active));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(await(stopped(bulkhead(), 100ms)));
  EXPECT_TRUE(await(stopped(bulkhead(), 100ms)));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 2s);
  ASSERT_TRUE(run_until([&] { return running->is_there(); }));
  EXPECT_EQ(running->value->error().kind, FailureKind::timed_out);
}

TEST_F(BulkheadTest, MayEndWhileWorkRuns) {
  const auto running = start(ask(Use::closing, "SELECT pg_sleep(8)"));
  run_until([&] { return bulkhead().counters().busy == 1; });
  const auto began = std::chrono::steady_clock::now();
  bulkhead_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
  EXPECT_TRUE(run_until([&] { return running->is_there(); }));
  EXPECT_FALSE(*running->value);
}

TEST(BulkheadOverARestart, WorksWithTheNextCall) {
  testing::PostgresServer::Options options;
  options.fsync = false;
  testing::PostgresServer server(options);
  DatabaseConfig config;
  config.url = server.url("postgres");
  asio::io_context loop;
  Bulkhead bulkhead(loop.get_executor(), config);
  const auto ask = [&](Use use) {
    auto work = [](Connection& connection) { return connection.write("SELECT 1").integer(0, 0); };
    return test::run_on(loop, bulkhead.run(use, 5s, work));
  };
  ask(Use::closing).value();
  ask(Use::discovery).value();

  server.stop_fast();
  EXPECT_EQ(ask(Use::closing).error().kind, FailureKind::unavailable);
  server.start();
  EXPECT_EQ(ask(Use::closing).value(), 1);
  EXPECT_EQ(ask(Use::discovery).value(), 1);

  server.stop_immediate();
  server.start();
  EXPECT_EQ(ask(Use::closing).value(), 1);
}

}  // namespace
}  // namespace order_timeout::postgres
