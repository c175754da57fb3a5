#include "telemetry/log_writer.hpp"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace order_timeout::telemetry {
namespace {

constexpr std::size_t kSpareBytesMax = std::size_t{1} << 20U;  // a buffer kept for the next lines
constexpr std::chrono::milliseconds kRetryEvery{500};
constexpr std::chrono::seconds kWaitForRoomMax{5};
constexpr std::chrono::seconds kFlushMax{10};

// A pipe that says it is writable takes this much without blocking (PIPE_BUF).
constexpr std::size_t kStderrBytesMax = 4'096;

// As far as stderr takes it at once: a reader that stands still must not hold up the files.
void write_to_stderr(std::string_view lines) {
  while (!lines.empty()) {
    pollfd writable{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&writable, 1, 0) != 1 || (writable.revents & POLLOUT) == 0) return;
    const std::string_view part = lines.substr(0, kStderrBytesMax);
    const ssize_t written = ::write(STDERR_FILENO, part.data(), part.size());
    if (written <= 0) return;
    lines.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::uint64_t count_lines(std::string_view lines) {
  return static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
}

Instant wall_clock() {
  const auto now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  return Instant{now.time_since_epoch()};
}

// Signals are the loop's; and SIGXFSZ or SIGPIPE must not end the daemon because of a log.
void block_all_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

LogWriter::LogWriter(Files files, Options options) : options_(options), format_(options.format) {
  queues_[main_log].file = std::move(files.main);
  queues_[main_log].bytes_max = options.main_bytes_max;
  queues_[audit_log].file = std::move(files.audit);
  queues_[audit_log].bytes_max = options.audit_bytes_max;
  thread_ = std::thread{[this] {
    block_all_signals();
    run();
  }};
}

LogWriter::~LogWriter() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  work_.notify_all();
  thread_.join();
}

bool LogWriter::has_room(const Queue& queue, std::size_t bytes) {
  return queue.waiting.size() + bytes <= queue.bytes_max;
}

// Under the lock. Without room the line is lost, and counted.
void LogWriter::hand_over(Queue& queue, std::string_view line) {
  if (!has_room(queue, line.size())) {
    ++queue.lost_unsaid;
    ++lost_;
    return;
  }
  put(queue, line);
}

// Under the lock.
void LogWriter::put(Queue& queue, std::string_view line) {
  const bool was_empty = queue.waiting.empty();
  queue.waiting += line;
  queue.handed_over += line.size();
  if (was_empty) work_.notify_one();
}

void LogWriter::write(const Entry& entry) {
  const std::string line = format_line(entry, format_);
  const std::lock_guard lock{mutex_};
  if (folding_.admit(entry, Clock::now())) hand_over(queues_[main_log], line);
}

void LogWriter::audit(const Entry& entry) {
  const std::string line = format_line(entry, format_);
  std::unique_lock lock{mutex_};
  Queue& queue = queues_[audit_log];
  if (!has_room(queue, line.size()) && !queue.failing) {
    const auto free = [&] { return queue.failing || has_room(queue, line.size()); };
    // A disk that stands still for so long has failed; the next caller does not wait for it again.
    if (!room_.wait_for(lock, kWaitForRoomMax, free)) queue.failing = true;
  }
  hand_over(queue, line);
}

void LogWriter::reconfigure(LogFormat format, LogFile::Limits limits) {
  format_ = format;
  for (Queue& queue : queues_) queue.file->set_limits(limits);
}

void LogWriter::reopen() {
  {
    const std::lock_guard lock{mutex_};
    reopen_wanted_ = true;
  }
  work_.notify_one();
}

void LogWriter::flush() {
  std::unique_lock lock{mutex_};
  const std::array<std::uint64_t, 2> goals{queues_[0].handed_over, queues_[1].handed_over};
  const auto done = [this, &goals] {
    if (reopen_wanted_ || reopening_) return false;
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      if (queues_[i].written < goals[i] && !queues_[i].failing) return false;
    }
    return true;
  };
  room_.wait_for(lock, kFlushMax, done);
}

std::uint64_t LogWriter::lost() const {
  const std::lock_guard lock{mutex_};
  return lost_;
}

// Has the writer anything to do for this file now?
bool LogWriter::has_work(const Queue& queue, Clock::time_point now) {
  return queue.failing ? now >= queue.retry_at : !queue.waiting.empty();
}

// Is there nothing left, or nothing that can be done about it?
bool LogWriter::is_finished(const Queue& queue) {
  return queue.failing || (queue.waiting.empty() && queue.writing.empty());
}

void LogWriter::run() {
  std::unique_lock lock{mutex_};
  const auto wake = [this] {
    const auto now = Clock::now();
    return stopping_ || reopen_wanted_ || has_work(queues_[0], now) || has_work(queues_[1], now);
  };
  for (bool finished = false; !finished;) {
    work_.wait_for(lock, kRetryEvery, wake);
    const bool stopping = stopping_;
    take_folded();
    reopening_ = std::exchange(reopen_wanted_, false);
    for (Queue& queue : queues_) write_out(lock, queue);
    reopening_ = false;
    room_.notify_all();
    finished = stopping && is_finished(queues_[0]) && is_finished(queues_[1]);
  }
  for (Queue& queue : queues_) give_up(queue);
}

// Under the lock: folded repetitions become lines; all of them at the end.
void LogWriter::take_folded() {
  for (Entry& entry : stopping_ ? folding_.drain() : folding_.due(Clock::now())) {
    entry.at = wall_clock();
    hand_over(queues_[main_log], format_line(entry, format_));
  }
}

// Takes what waits and writes it without the lock. A file that failed is left alone until its
// retry.
void LogWriter::write_out(std::unique_lock<std::mutex>& lock, Queue& queue) {
  const bool taken = queue.writing.empty();
  if (taken) std::swap(queue.writing, queue.waiting);
  const bool echo = taken && options_.also_stderr && &queue == &queues_[main_log];
  const bool due = !queue.failing || stopping_ || reopening_ || Clock::now() >= queue.retry_at;
  const bool reopen = reopening_;
  lock.unlock();
  if (echo) write_to_stderr(queue.writing);
  if (reopen) queue.file->reopen();
  std::size_t written = 0;
  if (due) {
    written = queue.file->append(queue.writing);
    queue.writing.erase(0, written);
    if (queue.writing.empty() && queue.writing.capacity() > kSpareBytesMax) queue.writing = {};
    complain(queue);
  }
  lock.lock();
  if (due) settle(queue, written);
}

// Once for each time that a file fails.
void LogWriter::complain(Queue& queue) {
  if (queue.writing.empty()) {
    queue.complained = false;
  } else if (!std::exchange(queue.complained, true)) {
    write_to_stderr("order-timeoutd: cannot write " + queue.file->path() + ": " +
                    queue.file->error() + "; tried again until there is room\n");
  }
}

void LogWriter::settle(Queue& queue, std::size_t written) {
  queue.written += written;
  queue.failing = !queue.writing.empty();
  if (queue.failing) {
    queue.retry_at = Clock::now() + kRetryEvery;
  } else if (const std::uint64_t lost = std::exchange(queue.lost_unsaid, 0); lost > 0) {
    say_lost(queue, lost);
  }
}

// Put there with or without room: a count that was lost itself would never be said.
void LogWriter::say_lost(Queue& queue, std::uint64_t lost) {
  const Entry entry{.at = wall_clock(),
                    .level = Level::warn,
                    .component = "log",
                    .message = "lines lost",
                    .fields = {{"count", lost}}};
  put(queue, format_line(entry, format_));
}

// The end, with a file that cannot be written.
void LogWriter::give_up(Queue& queue) {
  const std::uint64_t lost = count_lines(queue.writing) + count_lines(queue.waiting);
  if (lost == 0) return;
  lost_ += lost;
  write_to_stderr("order-timeoutd: " + std::to_string(lost) + " lines lost of " +
                  queue.file->path() + "\n");
}

}  // namespace order_timeout::telemetry
