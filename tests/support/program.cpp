#include "support/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/temp_dir.hpp"

namespace order_timeout::testing {

namespace {

constexpr int kLongestMs = 60'000;

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

ProgramRun run_program(std::vector<std::string> words, const std::string& input) {
  const TempDir directory;
  const std::string in = (directory.path() / "in").string();
  const std::string out = (directory.path() / "out").string();
  const std::string err = (directory.path() / "err").string();
  std::ofstream(in) << input;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(open(in.c_str(), O_RDONLY), STDIN_FILENO);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd ended{.fd = pidfd, .events = POLLIN, .revents = 0};
  if (poll(&ended, 1, kLongestMs) != 1) kill(child, SIGKILL);
  close(pidfd);
  int status = 0;
  waitpid(child, &status, 0);
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
          .out = content_of(out),
          .err = content_of(err)};
}

}  // namespace order_timeout::testing
