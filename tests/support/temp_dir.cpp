#include "support/temp_dir.hpp"

#include <stdlib.h>  // NOLINT: mkdtemp is POSIX

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace order_timeout::testing {

namespace {

std::filesystem::path usual_parent() {
  const char* named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/tmp";
}

}  // namespace

TempDir::TempDir(const std::string& prefix) : TempDir(usual_parent(), prefix) {}

TempDir::TempDir(const std::filesystem::path& parent, const std::string& prefix) {
  std::string name = (parent / (prefix + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot make " + name + ": " + std::strerror(errno));
  }
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;  // a file that is still open elsewhere must not end the test program
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace order_timeout::testing
