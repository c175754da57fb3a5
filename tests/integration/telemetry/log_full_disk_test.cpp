// Proves that a disk without room neither stops nor crashes anything: callers go on, lines wait,
// those beyond the bound are counted, the file never ends within a line, and all goes on by itself
// when there is room.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "integration/telemetry/log_directory.hpp"

namespace order_timeout::telemetry {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

// No file of this process may grow beyond so much: write(2) takes a part, then fails, as on a full
// disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &saved_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = saved_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &saved_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit saved_{};
};

// A directory whose main log has no room at all.
void fill_up(const LogDirectory& directory) {
  std::filesystem::create_symlink("/dev/full", directory / "order-timeoutd.log");
}

void make_room(const LogDirectory& directory) {
  std::filesystem::remove(directory / "order-timeoutd.log");
}

void expect_lines(const std::vector<std::string>& lines, int count) {
  ASSERT_THAT(lines, SizeIs(count));
  for (int i = 0; i < count; ++i) {
    ASSERT_THAT(lines.at(static_cast<std::size_t>(i)), EndsWith(" n=" + std::to_string(i)));
  }
}

TEST(LogOnAFullDisk, EndsAtALinesEndAndGoesOnWhenThereIsRoom) {
  const LogDirectory directory;
  auto log = directory.open();
  {
    const FileSizeLimit limit{10'001};
    for (int i = 0; i < 1'000; ++i) log->audit("closed", {{"n", i}});
    log->flush();
    const std::string text = directory.text("audit.log");
    EXPECT_GT(text.size(), 9'900U);
    EXPECT_THAT(text, EndsWith("\n"));
  }
  log->reopen();
  log->flush();
  expect_lines(directory.lines("audit.log"), 1'000);
  EXPECT_EQ(log->dropped(), 0U);
}

// Waits until the file grew, 5 s at most.
class Growth {
 public:
  explicit Growth(const std::filesystem::path& path) : inotify_(::inotify_init1(IN_CLOEXEC)) {
    ::inotify_add_watch(inotify_, path.c_str(), IN_MODIFY);
  }
  ~Growth() { ::close(inotify_); }
  Growth(const Growth&) = delete;
  Growth& operator=(const Growth&) = delete;

  bool wait() const {
    pollfd readable{.fd = inotify_, .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, 5'000) != 1) return false;
    std::array<char, 4'096> events{};
    return ::read(inotify_, events.data(), events.size()) > 0;
  }

 private:
  int inotify_;
};

TEST(LogOnAFullDisk, TriesAgainByItself) {
  const LogDirectory directory;
  const auto log = directory.open();
  const Growth growth{directory / "order-timeoutd.log"};
  {
    const FileSizeLimit limit{1'000};
    for (int i = 0; i < 100; ++i) log->info("a", "b", {{"n", i}});
    log->flush();
  }
  // Nothing is called from here on: only the writer's own retry can bring the rest.
  while (directory.lines("order-timeoutd.log").size() < 100 && growth.wait()) {
  }
  expect_lines(directory.lines("order-timeoutd.log"), 100);
}

TEST(LogOnAFullDisk, ComplainsOnceOnStderr) {
  const LogDirectory directory;
  fill_up(directory);
  testing::internal::CaptureStderr();
  const auto log = directory.open();
  for (int i = 0; i < 20; ++i) {
    log->info("a", "b", {{"n", i}});
    log->reopen();
    log->flush();
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("order-timeoutd.log: No space left on device"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  make_room(directory);
  log->reopen();
  log->flush();
  expect_lines(directory.lines("order-timeoutd.log"), 20);
}

TEST(LogOnAFullDisk, LeavesTheOtherFileAlone) {
  const LogDirectory directory;
  fill_up(directory);
  testing::internal::CaptureStderr();
  auto log = directory.open();
  log->info("a", "b");
  for (int i = 0; i < 100; ++i) log->audit("closed", {{"n", i}});
  log->flush();
  expect_lines(directory.lines("audit.log"), 100);
  log.reset();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("1 lines lost of "));
}

TEST(LogOnAFullDisk, CountsWhatIsBeyondTheBoundAndSaysSoLater) {
  const LogDirectory directory;
  fill_up(directory);
  testing::internal::CaptureStderr();
  auto log = directory.open();
  const std::string text(128, 'x');
  std::uint64_t handed_over = 0;
  for (; log->dropped() < 100; ++handed_over) {
    log->info("a", text, {{"v", text}, {"w", text}, {"x", text}, {"y", text}});
    ASSERT_LT(handed_over, 1'000'000U) << "nothing bounds the waiting lines";
  }
  const std::uint64_t lost = log->dropped();
  make_room(directory);
  log->reopen();
  log->flush();
  log.reset();
  testing::internal::GetCapturedStderr();
  const auto lines = directory.lines("order-timeoutd.log");
  EXPECT_EQ(lines.size(), handed_over - lost + 1);
  EXPECT_THAT(lines.back(), EndsWith(" WARN log: lines lost count=" + std::to_string(lost)));
}

}  // namespace
}  // namespace order_timeout::telemetry
