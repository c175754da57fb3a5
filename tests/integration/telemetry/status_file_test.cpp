// Proves that a reader of status.json sees a whole text at every moment, and that what cannot be
// written is said.
#include "telemetry/status_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "integration/telemetry/log_directory.hpp"

namespace order_timeout::telemetry {
namespace {

using testing::HasSubstr;

TEST(StatusFile, IsReplacedWholeUnderTheEyesOfAReader) {
  const LogDirectory directory;
  const std::string first(20'000, 'a');
  const std::string second(30'000, 'b');
  ASSERT_TRUE(write_status_file(directory.path(), first));
  std::atomic<bool> stop{false};
  std::thread writer{[&] {
    while (!stop) {
      EXPECT_TRUE(write_status_file(directory.path(), second));
      EXPECT_TRUE(write_status_file(directory.path(), first));
    }
  }};
  for (int i = 0; i < 500; ++i) {
    const std::string seen = directory.text("status.json");
    EXPECT_TRUE(seen == first || seen == second) << seen.size();
  }
  stop = true;
  writer.join();
  EXPECT_FALSE(std::filesystem::exists(directory / "status.json.new"));
}

TEST(StatusFile, SaysWhatCannotBeWritten) {
  const LogDirectory directory;
  const auto missing = write_status_file(directory.path() + "/none", "{}");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().detail, HasSubstr("none/status.json: No such file or directory"));
}

TEST(StatusFile, KeepsTheOldTextAndNoLitterWhenItFails) {
  const LogDirectory directory;
  std::filesystem::create_directories(directory / "status.json/in the way");
  const auto failed = write_status_file(directory.path(), "{}");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().detail, HasSubstr("directory"));
  EXPECT_FALSE(std::filesystem::exists(directory / "status.json.new"));
}

}  // namespace
}  // namespace order_timeout::telemetry
