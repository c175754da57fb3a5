// Proves that lines reach the right file in the right form and order, from several threads, and
// that neither a flood of equal errors nor a stderr nobody reads holds anything up.
#include "telemetry/log.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "integration/telemetry/log_directory.hpp"
#include "telemetry/log_writer.hpp"

namespace order_timeout::telemetry {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;

TEST(Log, WritesEachFileItsOwnLines) {
  const LogDirectory directory;
  const auto log = directory.open();
  log->info("rebuild", "complete", {{"orders", 12}});
  log->audit("close", "closed", {{"order_no", "A-1"}});
  log->audit("extended", {{"order_no", "A-2"}});
  log->flush();
  EXPECT_THAT(directory.lines("order-timeoutd.log"),
              ElementsAre(EndsWith(" INFO rebuild: complete orders=12")));
  EXPECT_THAT(directory.lines("audit.log"),
              ElementsAre(EndsWith(" INFO close: closed order_no=A-1"),
                          EndsWith(" INFO audit: extended order_no=A-2")));
}

TEST(Log, TellsTheTimeInUtc) {
  const LogDirectory directory;
  const auto before = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  const auto log = directory.open();
  log->info("a", "b");
  log->flush();
  const std::string line = directory.lines("order-timeoutd.log").at(0);
  const auto after = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  EXPECT_GE(line, format_instant(Instant{before.time_since_epoch()}));
  EXPECT_LE(line.substr(0, 24), format_instant(Instant{after.time_since_epoch()}));
}

TEST(Log, LeavesOutWhatIsBelowItsLevelButNoAuditLine) {
  const LogDirectory directory;
  Log::Options options;
  options.level = Level::error;
  const auto log = directory.open(options);
  log->warn("a", "not this");
  log->error("a", "this");
  log->audit("closed", {});
  log->flush();
  EXPECT_THAT(directory.lines("order-timeoutd.log"), ElementsAre(EndsWith("ERROR a: this")));
  EXPECT_THAT(directory.lines("audit.log"), SizeIs(1));
}

TEST(Log, WritesJsonWhereAskedTo) {
  const LogDirectory directory;
  Log::Options options;
  options.format = LogFormat::json;
  const auto log = directory.open(options);
  log->audit("close", "closed", {{"order_no", "A\n1"}, {"late_ms", 3}});
  log->flush();
  const auto object = boost::json::parse(directory.lines("audit.log").at(0)).as_object();
  EXPECT_EQ(object.at("order_no"), "A\n1");
  EXPECT_EQ(object.at("late_ms"), 3);
}

TEST(Log, GoesOnBehindWhatIsThere) {
  const LogDirectory directory;
  std::ofstream{directory / "audit.log"} << "whole\nbroken off";
  directory.open()->audit("closed", {});
  EXPECT_THAT(directory.lines("audit.log"), ElementsAre("whole", "broken off", EndsWith("closed")));
}

TEST(Log, SaysWhyItCannotBeOpened) {
  const LogDirectory directory;
  const auto missing = Log::open({.directory = directory.path() + "/none"});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().detail, HasSubstr(directory.path() + "/none/order-timeoutd.log"));
  EXPECT_THAT(missing.error().detail, HasSubstr("No such file or directory"));
  std::ofstream{directory / "file"} << "x";
  const auto no_directory = Log::open({.directory = directory.path() + "/file"});
  ASSERT_FALSE(no_directory);
  EXPECT_THAT(no_directory.error().detail, HasSubstr("Not a directory"));
}

TEST(Log, FoldsAFloodOfEqualErrors) {
  const LogDirectory directory;
  auto log = directory.open();
  for (int i = 0; i < 1'000; ++i)
    log->error("outbox", "no answer", {{"cause", "timed out"}, {"try", i}});
  log->flush();
  EXPECT_THAT(directory.lines("order-timeoutd.log"),
              ElementsAre(EndsWith("cause=\"timed out\" try=0")));
  log.reset();
  EXPECT_THAT(directory.lines("order-timeoutd.log"),
              ElementsAre(EndsWith("try=0"), MatchesRegex(".* try=999 repeated=999 last=.*Z")));
}

TEST(Log, KeepsEachThreadsLinesWholeAndInOrder) {
  constexpr int kThreads = 4;
  constexpr int kLines = 5'000;
  const LogDirectory directory;
  auto log = directory.open();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&log, thread] {
      for (int i = 0; i < kLines; ++i) {
        log->audit("closed", {{"thread", thread}, {"n", i}});
        log->info("t", "line", {{"thread", thread}, {"n", i}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  log.reset();
  for (const char* name : {"audit.log", "order-timeoutd.log"}) {
    std::array<int, kThreads> next{};
    const auto lines = directory.lines(name);
    ASSERT_THAT(lines, SizeIs(kThreads * kLines));
    for (const std::string& line : lines) {
      const std::size_t at = line.find(" thread=") + 8;
      int& expected = next.at(static_cast<std::size_t>(line.at(at) - '0'));
      ASSERT_THAT(line, EndsWith(" n=" + std::to_string(expected)));
      ++expected;
    }
  }
}

TEST(Log, IsAlsoOnStderrWhereAskedTo) {
  const LogDirectory directory;
  Log::Options options;
  options.also_stderr = true;
  testing::internal::CaptureStderr();
  auto log = directory.open(options);
  log->info("rebuild", "complete");
  log->audit("closed", {});
  log.reset();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              MatchesRegex("[^\n]* INFO rebuild: complete\n"));
}

// Stands in for stderr: a pipe that is full and that nobody reads.
class FullStderr {
 public:
  FullStderr() : saved_(::dup(STDERR_FILENO)) {
    if (::pipe2(ends_.data(), O_NONBLOCK | O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    const std::string page(4'096, 'x');
    while (::write(ends_[1], page.data(), page.size()) > 0) {
    }
    const int flags = ::fcntl(ends_[1], F_GETFL);
    ::fcntl(ends_[1], F_SETFL, flags & ~O_NONBLOCK);
    ::dup2(ends_[1], STDERR_FILENO);
  }
  ~FullStderr() {
    ::dup2(saved_, STDERR_FILENO);
    for (const int fd : {saved_, ends_[0], ends_[1]}) ::close(fd);
  }
  FullStderr(const FullStderr&) = delete;
  FullStderr& operator=(const FullStderr&) = delete;

 private:
  int saved_;
  std::array<int, 2> ends_{};
};

TEST(Log, DoesNotWaitForAStderrThatNobodyReads) {
  const LogDirectory directory;
  Log::Options options;
  options.also_stderr = true;
  const FullStderr full;
  const auto log = directory.open(options);
  for (int i = 0; i < 100; ++i) log->info("a", "line", {{"n", i}});
  log->flush();
  EXPECT_THAT(directory.lines("order-timeoutd.log"), SizeIs(100));
}

Entry entry_with(Field field) {
  Entry entry;
  entry.message = "closed";
  entry.fields.push_back(std::move(field));
  return entry;
}

LogWriter::Files files_in(const LogDirectory& directory) {
  auto main = LogFile::open({.path = directory / "main"});
  auto audit = LogFile::open({.path = directory / "audit"});
  return {.main = std::move(*main), .audit = std::move(*audit)};
}

TEST(LogWriter, MakesTheCallerWaitRatherThanLoseAnAuditLine) {
  const LogDirectory directory;
  LogWriter::Options options;
  options.audit_bytes_max = 256;
  {
    LogWriter writer{files_in(directory), options};
    for (int i = 0; i < 5'000; ++i) writer.audit(entry_with({"n", i}));
    EXPECT_EQ(writer.lost(), 0U);
  }
  EXPECT_THAT(directory.lines("audit"), SizeIs(5'000));
}

TEST(LogWriter, LosesMainLinesBeyondTheBoundAndSaysHowMany) {
  const LogDirectory directory;
  LogWriter::Options options;
  options.main_bytes_max = 200;
  std::uint64_t lost = 0;
  {
    LogWriter writer{files_in(directory), options};
    const std::string long_text(120, 'x');
    for (int i = 0; i < 100'000 && lost < 10; ++i) {
      writer.write(entry_with({"v", long_text}));
      lost = writer.lost();
    }
    ASSERT_GE(lost, 10U) << "the disk kept up: the bound was never met";
  }
  std::uint64_t said = 0;
  for (const std::string& line : directory.lines("main")) {
    const std::size_t at = line.find("WARN log: lines lost count=");
    if (at != std::string::npos) said += std::stoull(line.substr(at + 27));
  }
  EXPECT_EQ(said, lost);
}

}  // namespace
}  // namespace order_timeout::telemetry
