// A private temporary directory, removed with everything in it when its owner goes.
#pragma once

#include <filesystem>
#include <string>

namespace order_timeout::testing {

class TempDir {
 public:
  // Made by mkdtemp below $TMPDIR, or /tmp. Throws std::runtime_error where that fails.
  explicit TempDir(const std::string& prefix = "order-timeout-test-");
  // Below `parent` instead.
  TempDir(const std::filesystem::path& parent, const std::string& prefix);
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace order_timeout::testing
