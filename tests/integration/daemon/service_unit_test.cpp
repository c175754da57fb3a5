// Proves that the shipped unit is accepted by systemd without a word, is hardened as well as the
// best of the distribution, and that what the daemon tells systemd reaches a notify socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "daemon/systemd.hpp"

namespace order_timeout::daemon {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ServiceUnit : public testing::Test {
 protected:
  ServiceUnit() {
    std::string name =
        (std::filesystem::temp_directory_path() / "order-timeout-unit-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    directory_ = name;
  }
  ~ServiceUnit() override { std::filesystem::remove_all(directory_); }

  // The shipped unit with the built program in it, where systemd-analyze can see that it exists.
  std::string copy_of_the_unit() const {
    std::ifstream shipped{std::string{ORDER_TIMEOUT_SOURCE_DIR} + "/config/order-timeoutd.service"};
    std::ostringstream all;
    all << shipped.rdbuf();
    std::string text = all.str();
    const std::string program = "/usr/bin/order-timeoutd";
    const std::size_t at =
        text.find("ExecStart=" + program + " --config /etc/order-timeoutd/order-timeoutd.yaml\n");
    if (at == std::string::npos) throw std::runtime_error("the unit has no ExecStart of ours");
    std::filesystem::create_symlink(ORDER_TIMEOUTD, directory_ / "order-timeoutd");
    text.replace(at + std::strlen("ExecStart="), program.size(),
                 (directory_ / "order-timeoutd").string());
    const std::filesystem::path path = directory_ / "order-timeoutd.service";
    std::ofstream{path} << text;
    return path.string();
  }

  std::filesystem::path directory_;
};

struct Ran {
  int exit_code = -1;
  std::string output;  // stdout and stderr
};

Ran run(const std::string& command) {
  Ran ran;
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen " + command);
  std::array<char, 4'096> buffer{};
  while (std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    ran.output.append(buffer.data(), got);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) ran.exit_code = WEXITSTATUS(status);
  return ran;
}

TEST_F(ServiceUnit, IsAcceptedWithoutAWord) {
  const Ran verified = run("systemd-analyze verify '" + copy_of_the_unit() + "'");
  EXPECT_EQ(verified.exit_code, 0);
  EXPECT_EQ(verified.output, "");
}

TEST_F(ServiceUnit, IsExposedByOnePointOneAtMost) {
  const Ran judged = run("systemd-analyze security --offline=true --threshold=11 --no-pager '" +
                         copy_of_the_unit() + "'");
  EXPECT_EQ(judged.exit_code, 0) << judged.output;
  EXPECT_THAT(judged.output, HasSubstr("Overall exposure level for order-timeoutd.service: "));
}

// Where systemd would listen.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      throw std::runtime_error("bind " + path);
    }
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~NotifySocket() {
    ::unsetenv("NOTIFY_SOCKET");
    ::close(socket_);
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  std::string receive() const {
    pollfd readable{.fd = socket_, .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, 5'000) != 1) return "(nothing came)";
    std::array<char, 4'096> buffer{};
    const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
    return got < 0 ? "(error)" : std::string{buffer.data(), static_cast<std::size_t>(got)};
  }

 private:
  int socket_;
};

class Notifications : public ServiceUnit {
 protected:
  NotifySocket socket_{(directory_ / "notify").string()};
};

TEST_F(Notifications, SayThatTheServiceIsReady) {
  ready("closing, 12 orders wait");
  EXPECT_EQ(socket_.receive(), "READY=1\nSTATUS=closing, 12 orders wait");
}

TEST_F(Notifications, CannotCarryASecondAssignmentInAStatus) {
  status("rebuilding\nREADY=1");
  EXPECT_EQ(socket_.receive(), "STATUS=rebuilding READY=1");
}

TEST_F(Notifications, FeedTheWatchdogAskForTimeAndSayGoodbye) {
  watchdog();
  extend_timeout(std::chrono::seconds{60});
  stopping();
  EXPECT_EQ(socket_.receive(), "WATCHDOG=1");
  EXPECT_EQ(socket_.receive(), "EXTEND_TIMEOUT_USEC=60000000");
  EXPECT_EQ(socket_.receive(), "STOPPING=1");
}

TEST(Watchdog, IsFedTwiceInItsTime) {
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  const auto interval = watchdog_interval();
  ::setenv("WATCHDOG_PID", "1", 1);
  const auto of_another = watchdog_interval();
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("WATCHDOG_PID");
  EXPECT_EQ(interval, Duration{15'000});
  EXPECT_EQ(of_another, std::nullopt);
  EXPECT_EQ(watchdog_interval(), std::nullopt);
}

TEST(Notify, IsNothingWithoutSystemd) {
  ::unsetenv("NOTIFY_SOCKET");
  ready("up");
  watchdog();
  stopping();
}

}  // namespace
}  // namespace order_timeout::daemon
