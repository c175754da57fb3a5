// For the tests of a running daemon's configuration: the sample shop, a daemon, and the operator's
// tool on it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/daemon_process.hpp"
#include "support/program.hpp"
#include "support/shop_fixture.hpp"

namespace order_timeout::testing {

inline std::string file_content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class ReloadFixture : public ShopFixture {
 protected:
  static ProgramRun ctl(const DaemonProcess& daemon, const std::vector<std::string>& words) {
    std::vector<std::string> all = {ORDER_TIMEOUTCTL, "--config", daemon.config_file().string()};
    const std::vector<std::string> places = daemon.place_arguments();
    all.insert(all.end(), places.begin(), places.end());
    all.insert(all.end(), words.begin(), words.end());
    return run_program(std::move(all));
  }
  // Other business lines, as a person would write them into the file.
  static void write_lines(DaemonProcess& daemon, std::map<std::string, std::string> lines) {
    daemon.setup().lines = std::move(lines);
    daemon.write_configuration();
  }
  static void write_file(const DaemonProcess& daemon, const std::string& text) {
    std::ofstream(daemon.config_file()) << text;
  }
  bool await_closed(std::int64_t id) {
    return await([&] { return status_of(id) == "CLOSED"; });
  }
  std::string revision() { return shop_.value("select max(revision) from order_timeout.rule"); }
  static double reloads(const DaemonProcess& daemon, const std::string& result) {
    const std::string body = daemon.http_get("/metrics").body;
    const std::string name = "order_timeout_config_reloads_total{result=\"" + result + "\"} ";
    const std::size_t at = body.find(name);
    return at == std::string::npos ? 0 : std::stod(body.substr(at + name.size()));
  }
};

}  // namespace order_timeout::testing
