#include "daemon/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace order_timeout::daemon {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

Failure failure(const std::string& what, int code) {
  return Failure{FailureKind::unavailable, what + ": " + std::generic_category().message(code), ""};
}

// 0, or errno of what went wrong.
int read_up_to(int file, std::string& text) {
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t some = ::read(file, text.data() + got, text.size() - got);
    if (some == 0) break;
    if (some < 0 && errno != EINTR) return errno;
    if (some > 0) got += static_cast<std::size_t>(some);
  }
  text.resize(got);
  return 0;
}

int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t some = ::write(file, text.data(), text.size());
    if (some < 0 && errno != EINTR) return errno;
    if (some > 0) text.remove_prefix(static_cast<std::size_t>(some));
  }
  return ::fsync(file) == 0 ? 0 : errno;
}

int write_new_file(const std::string& path, std::string_view text) {
  ::unlink(path.c_str());  // of a writer that was killed
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  return file.number() < 0 ? errno : write_all(file.number(), text);
}

// So that the new name survives a crash of the machine.
void sync_directory(const std::string& path) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  const Descriptor file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.number() >= 0) ::fsync(file.number());
}

}  // namespace

Result<TextFile> read_text_file(const std::string& path, std::size_t most) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.number() < 0) return failure("cannot be read", errno);
  struct stat found {};
  if (::fstat(file.number(), &found) != 0) return failure("cannot be read", errno);
  if (S_ISDIR(found.st_mode)) return failure("cannot be read", EISDIR);
  if (!S_ISREG(found.st_mode)) {
    return Failure{FailureKind::rejected, "cannot be read: it is no regular file", ""};
  }
  TextFile content;
  content.readable_by_others = (found.st_mode & S_IROTH) != 0;
  content.text.resize(most);
  const int code = read_up_to(file.number(), content.text);
  if (code != 0) return failure("cannot be read", code);
  return content;
}

Result<Done> replace_text_file(const std::string& path, std::string_view text) {
  const std::string fresh = path + ".new";
  int code = write_new_file(fresh, text);
  if (code == 0 && std::rename(fresh.c_str(), path.c_str()) != 0) code = errno;
  if (code != 0) {
    ::unlink(fresh.c_str());
    return failure("cannot write " + path, code);
  }
  sync_directory(path);
  return Done{};
}

}  // namespace order_timeout::daemon
