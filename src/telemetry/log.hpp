// The daemon's two logs: order-timeoutd.log says what it does, audit.log has a line for every
// decision on an order and every finished event. Callers hand lines over and never wait for the
// disk; one writer thread does the files.
//
//   order-timeoutd.log  16 MiB of lines may wait for the writer; beyond that lines are lost,
//   counted, and the file
//                       says how many as soon as it is written again.
//   audit.log           nothing is dropped while the disk works, however slow: beyond 128 MiB of
//   waiting lines the
//                       caller waits for room, 5 s at most. A disk that has taken nothing for so
//                       long, or says it is full, counts as failed: lines wait up to the bound,
//                       then they are lost and counted. The truth is in the database.
//
// A file that cannot be written is tried again every half second, with the waiting lines in their
// order, and is complained about once on stderr. Equal warnings and errors are folded
// (folding.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "order_timeout/outcome.hpp"
#include "telemetry/line.hpp"

namespace order_timeout::telemetry {

class Log {
 public:
  struct Options {
    std::string directory;  // must exist
    Level level = Level::info;
    LogFormat format = LogFormat::text;
    std::int64_t max_size_bytes =
        100'000'000;           // a file that would grow beyond is rotated to FILE.1, FILE.2, …
    int keep = 14;             // rotated files kept beside the current one
    bool also_stderr = false;  // main log: also on stderr, as far as that takes it at once
  };

  // Fails, naming the file and the reason, where a file cannot be opened.
  static Result<std::unique_ptr<Log>> open(Options options);
  // Writes what waits, gives up on files that cannot be written, joins the writer.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Thread-safe. Fields are escaped and cut as format_line() says; message and keys are our own
  // words.
  void write(Level level, std::string_view component, std::string_view message, Fields fields = {});
  void debug(std::string_view component, std::string_view message, Fields fields = {});
  void info(std::string_view component, std::string_view message, Fields fields = {});
  void warn(std::string_view component, std::string_view message, Fields fields = {});
  void error(std::string_view component, std::string_view message, Fields fields = {});

  // A warning that a state has changed for the worse. Never folded, so that it stands beside the
  // line that says when it is over.
  void change(std::string_view component, std::string_view message, Fields fields);

  // A line of audit.log, whatever the level; the component is `audit` where none is given.
  void audit(std::string_view message, Fields fields);
  void audit(std::string_view component, std::string_view message, Fields fields);

  // Takes level, format, max_size_bytes and keep from `options`, for the lines that follow.
  void reconfigure(const Options& options);
  // Opens both files anew, soon: lines handed over before may still go to the renamed ones, no line
  // is lost.
  void reopen();
  // Waits until everything handed over so far is in the files and reopen() has happened: 10 s at
  // most, and not for a file that cannot be written. For shutdown and tests.
  void flush();
  // Lines lost since the start, of both files.
  std::uint64_t dropped() const;

 private:
  struct Writer;
  Log(Level level, std::unique_ptr<Writer> writer);

  std::atomic<Level> level_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace order_timeout::telemetry
