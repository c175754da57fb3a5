// Proves that no line is lost, doubled or split when logs are rotated, by size or by rename and
// reopen, while lines pour in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "integration/telemetry/log_directory.hpp"

namespace order_timeout::telemetry {
namespace {

using testing::EndsWith;
using testing::SizeIs;

constexpr int kRotations = 10;
constexpr int kLinesEach = 5'000;

// Lines 0 … count-1, each once and in order.
void expect_complete(const std::vector<std::string>& lines, int count) {
  ASSERT_THAT(lines, SizeIs(count));
  for (int i = 0; i < count; ++i) {
    ASSERT_THAT(lines.at(static_cast<std::size_t>(i)), EndsWith(" n=" + std::to_string(i)));
  }
}

// The content of NAME.r0, NAME.r1, … and NAME.
std::vector<std::string> all_lines(const LogDirectory& directory, const std::string& name) {
  std::vector<std::string> all;
  for (int i = 0; i <= kRotations; ++i) {
    for (const std::string& line :
         directory.lines(i < kRotations ? name + ".r" + std::to_string(i) : name)) {
      all.push_back(line);
    }
  }
  return all;
}

TEST(LogRotation, ByRenameAndReopenLosesNoLineWhileLinesPourIn) {
  const LogDirectory directory;
  auto log = directory.open();
  std::atomic<int> allowed{0};
  std::atomic<int> produced{0};
  std::thread producer{[&] {
    for (int i = 0; i < (kRotations + 1) * kLinesEach; ++i) {
      while (i >= allowed.load()) allowed.wait(i);
      log->audit("closed", {{"n", i}});
      log->info("close", "closed", {{"n", i}});
      produced.store(i + 1);
      produced.notify_one();
    }
  }};
  for (int rotation = 0; rotation <= kRotations; ++rotation) {
    allowed.store((rotation + 1) * kLinesEach);
    allowed.notify_one();
    // In the midst of the next 5,000 lines.
    const int middle = rotation * kLinesEach + kLinesEach / 2;
    for (int now = produced.load(); now < middle; now = produced.load()) produced.wait(now);
    if (rotation == kRotations) break;
    for (const char* name : {"audit.log", "order-timeoutd.log"}) {
      std::filesystem::rename(directory / name,
                              directory / (name + (".r" + std::to_string(rotation))));
    }
    log->reopen();
    log->flush();
  }
  producer.join();
  EXPECT_EQ(log->dropped(), 0U);
  log.reset();
  expect_complete(all_lines(directory, "audit.log"), (kRotations + 1) * kLinesEach);
  expect_complete(all_lines(directory, "order-timeoutd.log"), (kRotations + 1) * kLinesEach);
  EXPECT_THAT(directory.lines("audit.log.r9"), testing::Not(testing::IsEmpty()));
}

TEST(LogRotation, BySizeKeepsTheNewestFilesWithWholeLines) {
  const LogDirectory directory;
  Log::Options options;
  options.max_size_bytes = 10'000;
  options.keep = 3;
  auto log = directory.open(options);
  for (int i = 0; i < 2'000; ++i) log->info("close", "closed", {{"n", i}});
  log.reset();
  std::vector<std::string> newest;
  for (const char* name : {"order-timeoutd.log.3", "order-timeoutd.log.2", "order-timeoutd.log.1",
                           "order-timeoutd.log"}) {
    EXPECT_LE(directory.text(name).size(), 10'000U) << name;
    for (const std::string& line : directory.lines(name)) newest.push_back(line);
  }
  ASSERT_GT(newest.size(), 500U);
  for (std::size_t i = 0; i < newest.size(); ++i) {
    ASSERT_THAT(newest[i], EndsWith(" n=" + std::to_string(2'000 - newest.size() + i)));
  }
  EXPECT_GT(directory.text("order-timeoutd.log.3").size(), 9'000U);
  EXPECT_FALSE(std::filesystem::exists(directory / "order-timeoutd.log.4"));
}

TEST(LogRotation, BySizeCountsWhatWasThereAtTheStart) {
  const LogDirectory directory;
  Log::Options options;
  options.max_size_bytes = 200;
  options.keep = 5;
  for (int i = 0; i < 4; ++i)
    directory.open(options)->info("close", "closed", {{"v", std::string(60, 'x')}});
  EXPECT_THAT(directory.lines("order-timeoutd.log.3"), SizeIs(1));
  EXPECT_THAT(directory.lines("order-timeoutd.log"), SizeIs(1));
}

TEST(LogRotation, WritesALineThatIsLongerThanAFileMayBe) {
  const LogDirectory directory;
  Log::Options options;
  options.max_size_bytes = 20;
  options.keep = 5;
  auto log = directory.open(options);
  for (int i = 0; i < 3; ++i) log->info("close", "closed", {{"n", i}});
  log.reset();
  EXPECT_THAT(directory.lines("order-timeoutd.log.2"), testing::ElementsAre(EndsWith("n=0")));
  EXPECT_THAT(directory.lines("order-timeoutd.log"), testing::ElementsAre(EndsWith("n=2")));
}

TEST(LogRotation, GoesOnInTheOldFileWhileNoNewOneCanBeOpened) {
  const LogDirectory directory;
  auto log = directory.open();
  log->info("a", "b", {{"n", 0}});
  log->flush();
  std::filesystem::rename(directory / "order-timeoutd.log", directory / "old");
  std::filesystem::create_directory(directory / "order-timeoutd.log");
  log->reopen();
  log->info("a", "b", {{"n", 1}});
  log->flush();
  EXPECT_THAT(directory.lines("old"), SizeIs(2));
  std::filesystem::remove(directory / "order-timeoutd.log");
  log->info("a", "b", {{"n", 2}});
  log->flush();
  EXPECT_THAT(directory.lines("order-timeoutd.log"), testing::ElementsAre(EndsWith("n=2")));
}

}  // namespace
}  // namespace order_timeout::telemetry
