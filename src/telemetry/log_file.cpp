#include "telemetry/log_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace order_timeout::telemetry {
namespace {

constexpr mode_t kMode = 0640;

std::string error_text(int code) { return std::generic_category().message(code); }

// write(2) until all is written or the disk refuses: bytes written.
std::size_t write_all(int descriptor, std::string_view text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t now = ::write(descriptor, text.data() + written, text.size() - written);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) break;
    written += static_cast<std::size_t>(now);
  }
  return written;
}

// A crash of the machine may have left half a line; ours must not be glued to it.
bool ends_within_a_line(int descriptor, const struct stat& status) {
  if (!S_ISREG(status.st_mode) || status.st_size == 0) return false;
  char last = '\n';
  return ::pread(descriptor, &last, 1, status.st_size - 1) == 1 && last != '\n';
}

}  // namespace

Result<std::unique_ptr<LogFile>> LogFile::open(Options options) {
  std::unique_ptr<LogFile> file{new LogFile{std::move(options)}};
  if (!file->open_anew()) {
    return Failure{.kind = FailureKind::unavailable,
                   .detail = "cannot open log file " + file->path() + ": " + file->error_,
                   .sqlstate = {}};
  }
  return file;
}

LogFile::~LogFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool LogFile::open_anew() {
  const int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const int opened = ::open(options_.path.c_str(), flags, kMode);
  struct stat status {};
  if (opened < 0 || ::fstat(opened, &status) != 0) {
    error_ = error_text(errno);
    if (opened >= 0) ::close(opened);
    return false;
  }
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = opened;
  size_ = status.st_size;
  torn_ = ends_within_a_line(opened, status);
  reopen_wanted_ = false;
  return true;
}

void LogFile::reopen() { reopen_wanted_ = !open_anew(); }

std::size_t LogFile::append(std::string_view lines) {
  error_.clear();
  if (reopen_wanted_) reopen();
  std::size_t done = 0;
  while (done < lines.size()) {
    const std::string_view rest = lines.substr(done);
    std::size_t take = fitting(rest);
    if (take == 0) {
      rotate();
      take = fitting(rest);
    }
    // Where no new file can be opened the old one grows: better than losing lines.
    if (take == 0) take = rest.size();
    const std::size_t written = write_whole_lines(rest.substr(0, take));
    done += written;
    if (written < take) break;
  }
  return done;
}

// Bytes of whole lines that the file takes before it is to be rotated.
std::size_t LogFile::fitting(std::string_view lines) const {
  const std::int64_t most = max_size_bytes_;
  if (most <= 0) return lines.size();
  const std::int64_t room = most - size_;
  if (room >= static_cast<std::int64_t>(lines.size())) return lines.size();
  const std::size_t first_line = lines.find('\n') + 1;
  if (size_ == 0 && static_cast<std::int64_t>(first_line) >= room) return first_line;
  if (static_cast<std::int64_t>(first_line) > room) return 0;
  return lines.rfind('\n', static_cast<std::size_t>(room) - 1) + 1;
}

void LogFile::set_limits(Limits limits) {
  max_size_bytes_ = limits.max_size_bytes;
  keep_ = limits.keep;
}

bool LogFile::is_ours_at_path() const {
  struct stat named {};
  struct stat ours {};
  return ::stat(options_.path.c_str(), &named) == 0 && ::fstat(descriptor_, &ours) == 0 &&
         named.st_ino == ours.st_ino && named.st_dev == ours.st_dev;
}

// PATH.(keep-1) becomes PATH.keep, …, PATH becomes PATH.1. Needs no room on the disk but a name.
void LogFile::rotate() {
  if (is_ours_at_path()) {
    const int keep = keep_;
    const auto numbered = [this](int n) { return options_.path + "." + std::to_string(n); };
    for (int n = keep - 1; n >= 1; --n) {
      std::rename(numbered(n).c_str(), numbered(n + 1).c_str());
    }
    if (keep > 0) {
      std::rename(options_.path.c_str(), numbered(1).c_str());
    } else {
      ::unlink(options_.path.c_str());
    }
  }
  reopen();
}

std::size_t LogFile::write_whole_lines(std::string_view lines) {
  if (torn_) {
    if (write_all(descriptor_, "\n") != 1) {
      error_ = error_text(errno);
      return 0;
    }
    torn_ = false;
    ++size_;
  }
  const std::size_t written = write_all(descriptor_, lines);
  std::size_t whole = written;
  if (written < lines.size()) {
    error_ = error_text(errno);
    whole = written == 0 ? 0 : lines.rfind('\n', written - 1) + 1;
    if (whole < written) cut_back(written - whole);
  }
  size_ += static_cast<std::int64_t>(whole);
  return whole;
}

// Takes the half line off the end that a full disk left there.
void LogFile::cut_back(std::size_t bytes) {
  struct stat status {};
  torn_ = ::fstat(descriptor_, &status) != 0 ||
          ::ftruncate(descriptor_, status.st_size - static_cast<off_t>(bytes)) != 0;
}

}  // namespace order_timeout::telemetry
