#include "telemetry/status_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace order_timeout::telemetry {
namespace {

Failure failure(const std::string& path, int code) {
  return {.kind = FailureKind::unavailable,
          .detail = "cannot write " + path + ": " + std::generic_category().message(code),
          .sqlstate = {}};
}

// 0, or errno of what went wrong.
int write_new_file(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  int code = 0;
  while (!text.empty() && code == 0) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      code = errno;
    }
  }
  if (::close(file) != 0 && code == 0) code = errno;
  return code;
}

}  // namespace

Result<Done> write_status_file(const std::string& directory, std::string_view json) {
  const std::string path = directory + "/status.json";
  const std::string fresh = path + ".new";
  const int code = write_new_file(fresh, json);
  if (code != 0) {
    ::unlink(fresh.c_str());
    return failure(path, code);
  }
  if (std::rename(fresh.c_str(), path.c_str()) != 0) {
    const Failure why = failure(path, errno);
    ::unlink(fresh.c_str());
    return why;
  }
  return Done{};
}

}  // namespace order_timeout::telemetry
