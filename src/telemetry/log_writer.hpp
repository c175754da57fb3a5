// The thread behind Log: two files, the lines that wait for each, and what happens when a disk does
// not take them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "telemetry/folding.hpp"
#include "telemetry/line.hpp"
#include "telemetry/log_file.hpp"

namespace order_timeout::telemetry {

// Thread-safe where not said otherwise.
class LogWriter {
 public:
  enum Channel : std::uint8_t { main_log, audit_log };
  struct Files {
    std::unique_ptr<LogFile> main, audit;
  };
  struct Options {
    LogFormat format = LogFormat::text;
    bool also_stderr = false;
    std::size_t main_bytes_max = std::size_t{16} << 20U;  // lines that may wait
    std::size_t audit_bytes_max = std::size_t{128} << 20U;
  };

  LogWriter(Files files, Options options);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Folds or hands over to the main log; drops where too many wait.
  void write(const Entry& entry);
  // Hands over to the audit log; waits for room where the disk is slow (log.hpp).
  void audit(const Entry& entry);
  // For the lines that follow.
  void reconfigure(LogFormat format, LogFile::Limits limits);
  void reopen();
  void flush();
  std::uint64_t lost() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Queue {
    std::unique_ptr<LogFile> file;  // the writer thread's
    std::string writing;      // the writer thread's: taken from `waiting`, not yet in the file
    bool complained = false;  // the writer thread's
    std::size_t bytes_max = 0;
    std::string waiting;
    bool failing = false;
    Clock::time_point retry_at{};
    std::uint64_t lost_unsaid = 0;  // lines lost since the file last said so
    std::uint64_t handed_over = 0;  // bytes ever put into `waiting`
    std::uint64_t written = 0;      // bytes of those that reached the file
  };

  static bool has_work(const Queue& queue, Clock::time_point now);
  static bool is_finished(const Queue& queue);
  static bool has_room(const Queue& queue, std::size_t bytes);
  void hand_over(Queue& queue, std::string_view line);
  void put(Queue& queue, std::string_view line);
  void run();
  void take_folded();
  void write_out(std::unique_lock<std::mutex>& lock, Queue& queue);
  static void complain(Queue& queue);
  void settle(Queue& queue, std::size_t written);
  void say_lost(Queue& queue, std::uint64_t lost);
  void give_up(Queue& queue);

  const Options options_;
  std::atomic<LogFormat> format_;
  mutable std::mutex mutex_;
  std::condition_variable work_;  // for the writer: lines, reopen, stop
  std::condition_variable room_;  // for callers: a file was written or has failed
  std::array<Queue, 2> queues_;   // by Channel
  Folding folding_;
  std::uint64_t lost_ = 0;
  bool reopen_wanted_ = false;
  bool reopening_ = false;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace order_timeout::telemetry
