// A log directory of a test's own, removed with it, and what stands in its files.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "telemetry/log.hpp"

namespace order_timeout::telemetry {

class LogDirectory {
 public:
  LogDirectory() {
    std::string name =
        (std::filesystem::temp_directory_path() / "order-timeout-log-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = name;
  }
  ~LogDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  LogDirectory(const LogDirectory&) = delete;
  LogDirectory& operator=(const LogDirectory&) = delete;

  std::string path() const { return path_.string(); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  std::string text(const std::string& name) const {
    std::ifstream file{path_ / name, std::ios::binary};
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }

  // Lines without their '\n'; a last one without '\n' comes as "TORN: …".
  std::vector<std::string> lines(const std::string& name) const {
    std::vector<std::string> out;
    const std::string all = text(name);
    std::size_t begin = 0;
    for (std::size_t end = all.find('\n'); end != std::string::npos; end = all.find('\n', begin)) {
      out.push_back(all.substr(begin, end - begin));
      begin = end + 1;
    }
    if (begin < all.size()) out.push_back("TORN: " + all.substr(begin));
    return out;
  }

  std::unique_ptr<Log> open(Log::Options options = {}) const {
    options.directory = path();
    auto log = Log::open(options);
    if (!log) throw std::runtime_error(log.error().detail);
    return std::move(*log);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace order_timeout::telemetry
