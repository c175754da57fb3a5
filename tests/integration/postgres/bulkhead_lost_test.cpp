// Proves that a server process that hangs hangs nobody else: its call ends at our own deadline, the
// others go on, the server never sees more of us than configured, and when the process is back (or
// gone) its place is free again. Likewise one whose connection the network broke.
#include "integration/postgres/bulkhead_fixture.hpp"
#include "support/tcp_proxy.hpp"
#include "support/temp_dir.hpp"

namespace order_timeout::postgres {
namespace {

constexpr Duration kDeadline = 300ms;

class HungBackend : public BulkheadFixture {
 protected:
  // One call of each use at the same time, as often as asked; the most server processes seen
  // meanwhile.
  int most_backends_during_calls(int rounds) {
    int most = 0;
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::shared_ptr<test::Outcome<Result<std::string>>>> calls;
      for (const Use use : {Use::closing, Use::discovery, Use::sink, Use::closing}) {
        calls.push_back(start(ask(use, "SELECT 1 FROM pg_sleep(0.02)")));
      }
      run_until([&] {
        return std::ranges::all_of(calls, [](const auto& call) { return call->is_there(); });
      });
      most = std::max(most, backends());
    }
    return most;
  }
};

TEST_F(HungBackend, IsCutAtOurDeadline) {
  const StoppedBackend stopped(backend_of(Use::closing));
  const auto began = std::chrono::steady_clock::now();
  const Result<std::string> hung = await(ask(Use::closing, "SELECT 1", kDeadline));
  const auto took = std::chrono::steady_clock::now() - began;
  ASSERT_FALSE(hung);
  EXPECT_EQ(hung.error().kind, FailureKind::timed_out);
  EXPECT_GE(took, kDeadline);
  EXPECT_LT(took, 3s);
}

TEST_F(HungBackend, LeavesAWriteUnknown) {
  const StoppedBackend stopped(backend_of(Use::closing));
  EXPECT_EQ(await(tell(Use::closing, "SELECT 1", kDeadline)).error().kind, FailureKind::unknown);
}

TEST_F(HungBackend, HoldsUpNoOtherCall) {
  const StoppedBackend stopped(backend_of(Use::closing));
  const auto hung = start(ask(Use::closing, "SELECT 1", 5s));
  EXPECT_EQ(await(ask(Use::closing, "SELECT 'on'")).value(), "on");
  EXPECT_EQ(await(ask(Use::discovery, "SELECT 'on'")).value(), "on");
  EXPECT_FALSE(hung->is_there());
}

TEST_F(HungBackend, LeavesClosingItsReservedConnection) {
  const StoppedBackend stopped(backend_of(Use::closing));
  ASSERT_FALSE(await(ask(Use::closing, "SELECT 1", kDeadline)));
  for (int i = 0; i < 3; ++i) start(ask(Use::discovery, "SELECT 'busy' FROM pg_sleep(4)"));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(await(ask(Use::closing, "SELECT 'on'")).value(), "on");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
}

TEST_F(HungBackend, CountsAgainstTheBoundUntilItHasEnded) {
  {
    const StoppedBackend stopped(backend_of(Use::closing));
    ASSERT_FALSE(await(ask(Use::closing, "SELECT 1", kDeadline)));
    EXPECT_EQ(bulkhead().counters().lost, 1);
    EXPECT_LE(most_backends_during_calls(3), 3);
    EXPECT_EQ(bulkhead().counters().lost, 1);
  }
  EXPECT_TRUE(run_until([&] { return bulkhead().counters().lost == 0; }));
  EXPECT_LE(most_backends_during_calls(3), 3);
  EXPECT_EQ(bulkhead().counters().open, 3);
}

TEST_F(HungBackend, FreesItsPlaceWhenItIsKilled) {
  const pid_t pid = backend_of(Use::closing);
  const StoppedBackend stopped(pid);
  ASSERT_FALSE(await(ask(Use::closing, "SELECT 1", kDeadline)));
  // To a stopped process the signal comes when it goes on: as an operator would end it.
  looking_.exec("SELECT pg_terminate_backend(" + std::to_string(pid) + ")");
  ::kill(pid, SIGCONT);
  EXPECT_TRUE(run_until([&] { return bulkhead().counters().lost == 0; }));
}

TEST_F(HungBackend, LetsOneReconnectWhereAllHang) {
  std::vector<std::unique_ptr<StoppedBackend>> stopped;
  std::vector<std::shared_ptr<test::Outcome<Result<std::string>>>> pids;
  for (const Use use : {Use::closing, Use::discovery, Use::sink}) {
    pids.push_back(start(ask(use, "SELECT pg_backend_pid() FROM pg_sleep(0.05)")));
  }
  run_until(
      [&] { return std::ranges::all_of(pids, [](const auto& one) { return one->is_there(); }); });
  for (const auto& pid : pids) {
    stopped.push_back(std::make_unique<StoppedBackend>(std::stoi(pid->value->value())));
  }
  std::vector<std::shared_ptr<test::Outcome<Result<std::string>>>> calls;
  for (const Use use : {Use::closing, Use::discovery, Use::sink}) {
    calls.push_back(start(ask(use, "SELECT 1", kDeadline)));
  }
  ASSERT_TRUE(run_until([&] { return bulkhead().counters().lost == 3; }));
  EXPECT_EQ(await(ask(Use::closing, "SELECT 'on'")).value(), "on");
  EXPECT_EQ(await(ask(Use::discovery, "SELECT 'on'")).value(), "on");
  EXPECT_EQ(backends(), 4);
  stopped.clear();
  EXPECT_TRUE(run_until([&] { return bulkhead().counters().lost == 0; }));
  EXPECT_LE(most_backends_during_calls(5), 3);
}

class BrokenConnection : public HungBackend {
 protected:
  // Four, so that one rests and the sink still has one that nobody has reserved.
  BrokenConnection() {
    config_.connections = 4;
    config_.url =
        "postgresql:///" + database_ + "?host=" + folder_.path().string() + "&user=postgres";
  }

  testing::TempDir folder_;
  test::TcpProxy proxy_{
      {.listen = {.path = folder_.path().string() + "/.s.PGSQL.5432"},
       .target = {.path = server_.socket_dir() + "/.s.PGSQL." + std::to_string(server_.port())}}};
};

TEST_F(BrokenConnection, CountsAgainstTheBoundWhileItsServerProcessWorksOn) {
  ASSERT_TRUE(await(ask(Use::closing, "SELECT 1")));
  proxy_.cut_when_client_sends("works on", test::LastBytes::forwarded);
  const Result<std::string> broken = await(ask(Use::closing, "SELECT 'works on' FROM pg_sleep(3)"));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().kind, FailureKind::unavailable);
  EXPECT_EQ(bulkhead().counters().lost, 1);
  EXPECT_LE(most_backends_during_calls(3), 4);
  EXPECT_EQ(bulkhead().counters().lost, 1) << "the server process ended too soon";
  EXPECT_TRUE(run_until([&] { return bulkhead().counters().lost == 0; }));
  EXPECT_LE(most_backends_during_calls(3), 4);
}

}  // namespace
}  // namespace order_timeout::postgres
