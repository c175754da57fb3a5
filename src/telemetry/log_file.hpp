// One log file: appends whole lines, rotates by size, is opened anew after a rename. It always ends
// at a line's end, also after a write that the disk took only half of. Blocks on the disk: for the
// writer thread only, but for set_limits().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "order_timeout/outcome.hpp"

namespace order_timeout::telemetry {

class LogFile {
 public:
  struct Options {
    std::string path;
    std::int64_t max_size_bytes = 0;  // 0: no rotation
    int keep = 0;                     // PATH.1 is the newest of so many
  };

  struct Limits {
    std::int64_t max_size_bytes = 0;
    int keep = 0;
  };

  // Creates the file (mode 0640) where it is missing, never its directory.
  static Result<std::unique_ptr<LogFile>> open(Options options);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // Appends lines, each with its '\n'; gives how many bytes of them are in the file, always whole
  // lines. Fewer than all: the disk refused, and error() says why. A single line longer than
  // max_size_bytes is written all the same.
  std::size_t append(std::string_view lines);
  // Opens the path anew: after somebody renamed the file. While that fails the old file is written
  // on, and every append tries again.
  void reopen();

  // Any thread.
  void set_limits(Limits limits);

  const std::string& error() const { return error_; }  // empty: the last append went well
  const std::string& path() const { return options_.path; }

 private:
  explicit LogFile(Options options)
      : options_(std::move(options)),
        max_size_bytes_(options_.max_size_bytes),
        keep_(options_.keep) {}
  bool open_anew();
  void rotate();
  bool is_ours_at_path() const;
  std::size_t fitting(std::string_view lines) const;
  std::size_t write_whole_lines(std::string_view lines);
  void cut_back(std::size_t bytes);

  Options options_;
  std::atomic<std::int64_t> max_size_bytes_;
  std::atomic<int> keep_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  bool torn_ = false;           // the file ends within a line
  bool reopen_wanted_ = false;  // the path does not name our file
  std::string error_;
};

}  // namespace order_timeout::telemetry
