// Proves what a start does with a file that is broken or says something new: the last configuration
// that worked stands in, loudly; and where a start would make too many orders due, closing waits
// for a person.
#include <sys/stat.h>

#include <boost/json.hpp>
#include <filesystem>

#include "support/reload_fixture.hpp"

namespace order_timeout::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Snapshot : public ReloadFixture {
 protected:
  static fs::path snapshot_of(const DaemonProcess& daemon) {
    return daemon.directory() / "last-good.yaml";
  }
  static boost::json::value status(const DaemonProcess& daemon) {
    const ProgramRun run = ctl(daemon, {"--json", "status"});
    return boost::json::parse(run.out).at("daemon");
  }
};

TEST_F(Snapshot, KeepsFilesAndIncludesForTheOwnerAloneWithVariablesAsWritten) {
  DaemonProcess daemon({.database_url = "${SHOP_URL}", .environment = {{"SHOP_URL", url()}}});
  fs::create_directory(daemon.directory() / "business_lines.d");
  std::ofstream(daemon.directory() / "business_lines.d" / "10.yaml") << "hotel: {timeout: 2h}\n";
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const std::string text = file_content(snapshot_of(daemon));
  EXPECT_THAT(text, AllOf(HasSubstr("\"${SHOP_URL}\""), HasSubstr("hotel:"), HasSubstr("2h"),
                          HasSubstr("# revision " + revision())));
  EXPECT_THAT(text, Not(HasSubstr(url())));
  struct stat found {};
  ASSERT_EQ(::stat(snapshot_of(daemon).c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST_F(Snapshot, StandsInForAFileThatIsGoneOrBrokenUntilItIsMended) {
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  const std::string good = daemon.configuration();
  const std::string before = revision();
  daemon.kill9();
  daemon.setup().extra = "close: {batch_size: none}";
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  EXPECT_EQ(revision(), before);
  EXPECT_TRUE(await_closed(place_order()));
  EXPECT_THAT(daemon.log_text(), HasSubstr("the file cannot be used: the last configuration that "
                                           "worked is in force"));
  EXPECT_THAT(daemon.log_text(), HasSubstr("key=close.batch_size"));
  EXPECT_THAT(daemon.output_text(), HasSubstr("cannot be used; in its place the snapshot"));
  EXPECT_EQ(status(daemon).at("config").at("from_snapshot"), true);
  EXPECT_EQ(ctl(daemon, {"reload"}).exit_code, 78);
  write_file(daemon, good);
  EXPECT_EQ(ctl(daemon, {"reload"}).exit_code, 0);
  EXPECT_EQ(status(daemon).at("config").at("from_snapshot"), false);
}

TEST_F(Snapshot, IsNoHelpWhereItIsBrokenItself) {
  DaemonProcess daemon({.database_url = url(), .extra = "close: {batch_size: none}"});
  std::ofstream(snapshot_of(daemon)) << "database: {url: [}\n";
  daemon.start();
  EXPECT_EQ(daemon.wait_exit(), 78);
  EXPECT_THAT(daemon.output_text(), HasSubstr("close.batch_size"));
}

TEST_F(Snapshot, IsPrintedWithItsOriginButNeverPassesACheck) {
  DaemonProcess daemon({.database_url = url()});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  ASSERT_EQ(daemon.terminate(), 0);
  write_file(daemon, "");
  std::vector<std::string> words = {ORDER_TIMEOUTD, "--config", daemon.config_file().string()};
  for (const std::string& word : daemon.place_arguments()) words.push_back(word);
  words.push_back("--print-config");
  const ProgramRun printed = run_program(words);
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, HasSubstr("# snapshot " + snapshot_of(daemon).string() + ":"));
  EXPECT_THAT(printed.err, HasSubstr("the file is empty"));
  words.back() = "--check-config";
  EXPECT_EQ(run_program(words).exit_code, 78);
}

TEST_F(Snapshot, AStartThatWouldMakeTooManyOrdersDuePausesUntilAPersonResumes) {
  place_orders(30, "default", "now() - interval '20 minutes'");
  DaemonProcess daemon({.database_url = url(),
                        .lines = {{"default", "{timeout: 30m, grace: 0s}"}},
                        .extra = "guard: {max_due_by_reload: 25}"});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  EXPECT_EQ(count("order_timeout.pause"), 0);
  ASSERT_EQ(daemon.terminate(), 0);
  daemon.setup().lines = {{"default", "{timeout: 10m, grace: 0s}"}};
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  EXPECT_TRUE(daemon.await_log("default: 30 orders due at once"));
  EXPECT_TRUE(daemon.await_log("guard: closing is paused guard=max_due_by_reload"));
  EXPECT_TRUE(daemon.await_audit("paused"));
  EXPECT_EQ(status(daemon).at("closing"), "paused");
  EXPECT_EQ(count("t_order where status = 'CLOSED'"), 0);
  // It is kept through restarts: the rules are those in force by now.
  daemon.kill9();
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  EXPECT_TRUE(daemon.await_log("pause: paused scope=all by=order-timeoutd"));
  EXPECT_EQ(count("t_order where status = 'CLOSED'"), 0);
  EXPECT_EQ(ctl(daemon, {"resume", "--reason", "looked at"}).exit_code, 0);
  EXPECT_TRUE(await_count("t_order where status = 'CLOSED'", 30));
  EXPECT_TRUE(daemon.await_log("pause: resumed scope=all"));
  EXPECT_EQ(status(daemon).at("closing"), "running");
}

TEST_F(Snapshot, AFirstStartWithManyOverdueOrdersPausesAndOneAfterAnOutageDoesNot) {
  place_orders(30, "default", "now() - interval '1 hour'");
  DaemonProcess daemon({.database_url = url(), .extra = "guard: {max_due_by_reload: 25}"});
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  EXPECT_TRUE(daemon.await_audit("paused"));
  EXPECT_EQ(ctl(daemon, {"resume"}).exit_code, 0);
  EXPECT_TRUE(await_count("t_order where status = 'CLOSED'", 30));
  ASSERT_EQ(daemon.terminate(), 0);
  place_orders(30, "default", "now() - interval '1 hour'");
  daemon.start();
  EXPECT_TRUE(await_count("t_order where status = 'CLOSED'", 60));
  EXPECT_EQ(count("order_timeout.pause"), 0);
}

}  // namespace
}  // namespace order_timeout::testing
