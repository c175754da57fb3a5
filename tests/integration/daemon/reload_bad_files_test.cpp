// Proves that no file harms a running daemon: whatever stands where the configuration was, the old
// one stays in force, the reason is said, and orders go on being closed.
#include <sys/stat.h>

#include <filesystem>

#include "support/reload_fixture.hpp"

namespace order_timeout::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class BadReload : public ReloadFixture {
 protected:
  // What is refused, with the words that say why.
  void expect_refused(const std::string& why) {
    const ProgramRun run = ctl(daemon_, {"reload"});
    EXPECT_EQ(run.exit_code, 78) << why;
    EXPECT_THAT(run.err, HasSubstr(why));
    EXPECT_EQ(reloads(daemon_, "error"), ++refusals_) << why;
  }
  void expect_text_refused(const std::string& text, const std::string& why) {
    fs::remove_all(daemon_.config_file());
    write_file(daemon_, text);
    expect_refused(why);
  }

  DaemonProcess daemon_{
      {.database_url = url(), .lines = {{"default", "{timeout: 1s, grace: 0s}"}}}};
  int refusals_ = 0;
};

TEST_F(BadReload, LeavesTheOldConfigurationInForce) {
  daemon_.start();
  ASSERT_TRUE(daemon_.await_ready());
  const std::string good = daemon_.configuration();
  const std::string before = revision();

  expect_text_refused(good + "close: {batch_size: [1\n", "YAML: ");
  expect_text_refused(good + "clse: {batch_size: 1}\n", "unknown key, did you mean close?");
  expect_text_refused(good + "close: {max_age: -5m}\n", "close.max_age: found \"-5m\"");
  expect_text_refused(good + "close: {batch_size: 1}\nclose: {}\n", "stands twice");
  expect_text_refused(good + "\tclose: {batch_size: 1}\n", "a tab");
  expect_text_refused(good.substr(0, good.size() / 3), ".yaml");
  expect_text_refused("", "the file is empty");
  expect_text_refused("# nothing\n\n   # yet\n", "the file is empty");
  expect_text_refused(std::string(3, '\0') + good, "a control character");
  expect_text_refused("\xff\xfe" + good, "not UTF-8");
  expect_text_refused(good + "#" + std::string(2'000'000, 'x'), "larger than 1 MiB");

  fs::remove(daemon_.config_file());
  expect_refused("cannot be read");
  fs::create_directory(daemon_.config_file());
  expect_refused("Is a directory");
  fs::remove(daemon_.config_file());
  fs::create_symlink(daemon_.config_file(), daemon_.config_file());
  expect_refused("cannot be read");
  fs::remove(daemon_.config_file());
  ASSERT_EQ(mkfifo(daemon_.config_file().c_str(), 0600), 0);
  expect_refused("no regular file");

  fs::remove(daemon_.config_file());
  fs::create_directory(daemon_.directory() / "business_lines.d");
  std::ofstream(daemon_.directory() / "business_lines.d" / "flash.yaml")
      << "flash: {timeout: 10}\n";
  expect_text_refused(good, "flash.yaml:1:18: business_lines.flash.timeout: found \"10\"");
  fs::remove_all(daemon_.directory() / "business_lines.d");

  EXPECT_EQ(revision(), before);
  const auto id = place_order();
  EXPECT_TRUE(await([&] { return status_of(id) == "CLOSED"; }));
  EXPECT_THAT(daemon_.log_text(), HasSubstr("reload_refused"));
  EXPECT_THAT(daemon_.log_text(), HasSubstr("bad_config"));
  write_file(daemon_, good);
  EXPECT_EQ(ctl(daemon_, {"reload"}).exit_code, 0);
  EXPECT_EQ(daemon_.terminate(), 0);
}

}  // namespace
}  // namespace order_timeout::testing
