#include "support/daemon_process.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace order_timeout::testing {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Longest wait for one event: an end of file or a rename that no event tells of is seen after it.
constexpr int kMomentMs = 200;
constexpr int kLinesShown = 40;

// The mapping of support/sample_shop.cpp, and intervals as short as tests want them.
const std::vector<std::pair<std::string, std::string>> kSections = {
    {"order_table",
     "\n  name: public.t_order\n  columns: {paid_at: paid_at}\n"
     "  items: {table: public.t_order_item, order_id: order_id, columns: [sku_id, qty]}\n"
     "  payments: {table: public.t_payment, id: payment_id, order_id: order_id, status: status, "
     "amount: amount_cents, created_at: created_at, paid: [SUCCESS], in_progress: [PAYING]}"},
    {"discovery", "{poll_interval: 100ms}"},
    {"sweep", "{catch_up_interval: 1s}"},
    {"outbox", "{backoff: [100ms, 200ms, 500ms, 1s], max_attempts: 100}"},
    {"admin", "{listen: \"127.0.0.1:0\"}"},
    {"guard", "{max_due_by_reload: 1000000000}"},
};

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::size_t size_of(const fs::path& path) {
  std::error_code missing;
  const auto size = fs::file_size(path, missing);
  return missing ? 0 : static_cast<std::size_t>(size);
}

// `text` from `from` on; all of it where the file was replaced by a shorter one.
std::string tail_of(const fs::path& path, std::size_t from) {
  std::string text = content_of(path);
  return from <= text.size() ? text.substr(from) : text;
}

bool has_section(const std::string& yaml, const std::string& name) {
  return ("\n" + yaml).find("\n" + name + ":") != std::string::npos;
}

int remaining_ms(Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

// The test's environment without what a service manager put there, with `more`.
std::vector<std::string> environment(const std::map<std::string, std::string>& more,
                                     const std::string& notify_socket) {
  std::vector<std::string> all = {"NOTIFY_SOCKET=" + notify_socket};
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (name == "NOTIFY_SOCKET" || name.starts_with("WATCHDOG_") || more.contains(name)) continue;
    if (!name.starts_with("ORDER_TIMEOUTD_")) all.push_back(text);
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// Only calls that are safe between fork and exec.
[[noreturn]] void become(const std::vector<char*>& arguments, const std::vector<char*>& variables,
                         const char* output_path, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const int output = open(output_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  // A socket that the test listens on must not live on in its child when the test closes it.
  close_range(STDERR_FILENO + 1, ~0U, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(arguments[0], arguments.data(), variables.data());
  _exit(127);
}

// Everything the server sends until it closes; empty where it is not there.
std::string converse(std::uint16_t port, const std::string& request, Clock::time_point until) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      send(fd, request.data(), request.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request.size())) {
    std::array<char, 8'192> buffer{};
    pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
    while (poll(&readable, 1, remaining_ms(until)) == 1) {
      const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) break;
      answer.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  close(fd);
  return answer;
}

}  // namespace

DaemonProcess::DaemonProcess(DaemonSetup setup) : setup_(std::move(setup)) {
  fs::create_directories(log_directory());
  open_notify_socket();
  watch_logs();
}

DaemonProcess::~DaemonProcess() {
  reap(false);
  if (::testing::Test::HasFailure()) print_end_of_log();
  kill9();
  close(notify_socket_);
  close(log_watch_);
}

void DaemonProcess::open_notify_socket() {
  notify_socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const std::string path = (directory() / "notify").string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("too long: " + path);
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  if (bind(notify_socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("bind " + path);
  }
}

void DaemonProcess::watch_logs() {
  log_watch_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  const auto events = IN_MODIFY | IN_CREATE | IN_MOVED_TO;
  if (inotify_add_watch(log_watch_, log_directory().c_str(), events) < 0) {
    throw std::runtime_error("inotify " + log_directory().string());
  }
}

std::string DaemonProcess::configuration() const {
  std::ostringstream yaml;
  const auto section = [&](const std::string& name, const std::string& content) {
    if (!has_section(setup_.extra, name)) yaml << name << ": " << content << '\n';
  };
  section("database", "{url: \"" + setup_.database_url + "\"}");
  for (const auto& [name, content] : kSections) section(name, content);
  if (!setup_.redis_url.empty()) {
    section("redis", "{url: \"" + setup_.redis_url + "\", poll_interval: 100ms}");
  }
  std::string lines;
  for (const auto& [name, rule] : setup_.lines) lines += "\n  " + name + ": " + rule;
  section("business_lines", lines);
  section("events", "\n  release_stock: " + setup_.release_stock);
  yaml << setup_.extra << '\n';
  return yaml.str();
}

std::vector<std::string> DaemonProcess::place_arguments() const {
  return {"--set", "log.directory=" + log_directory().string(),
          "--set", "admin.socket=" + (directory() / "control.sock").string(),
          "--set", "snapshot=" + (directory() / "last-good.yaml").string()};
}

void DaemonProcess::write_configuration() const { std::ofstream(config_file()) << configuration(); }

void DaemonProcess::start() {
  if (running()) throw std::runtime_error("order-timeoutd runs already");
  write_configuration();
  std::vector<std::string> words = {ORDER_TIMEOUTD, "--config", config_file().string()};
  const std::vector<std::string> places = place_arguments();
  words.insert(words.end(), places.begin(), places.end());
  words.insert(words.end(), setup_.arguments.begin(), setup_.arguments.end());
  std::vector<std::string> variables =
      environment(setup_.environment, (directory() / "notify").string());
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> envp = pointers(variables);
  const std::string output = (directory() / "output.txt").string();
  receive_notifications();  // of the last life
  notifications_.clear();
  exit_code_.reset();
  log_start_ = size_of(log_file());
  audit_start_ = size_of(audit_file());
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) become(argv, envp, output.c_str(), parent);
  setpgid(child, child);
  pid_ = child;
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
}

void DaemonProcess::receive_notifications() {
  std::array<char, 4'096> buffer{};
  while (true) {
    const ssize_t got = recv(notify_socket_, buffer.data(), buffer.size(), 0);
    if (got < 0) return;
    std::istringstream lines(std::string(buffer.data(), static_cast<std::size_t>(got)));
    for (std::string line; std::getline(lines, line);) notifications_.push_back(line);
  }
}

void DaemonProcess::await_anything(Until until) {
  std::array<pollfd, 3> events{{{.fd = notify_socket_, .events = POLLIN, .revents = 0},
                                {.fd = log_watch_, .events = POLLIN, .revents = 0},
                                {.fd = pidfd_, .events = POLLIN, .revents = 0}}};
  const nfds_t watched = pidfd_ < 0 || exit_code_ ? 2 : 3;
  poll(events.data(), watched, std::min(remaining_ms(until), kMomentMs));
  std::array<char, 4'096> drained{};
  while (read(log_watch_, drained.data(), drained.size()) > 0) {
  }
  receive_notifications();
  reap(false);
}

bool DaemonProcess::reap(bool block) {
  if (pid_ == 0) return true;
  int status = 0;
  if (waitpid(pid_, &status, block ? 0 : WNOHANG) != pid_) return false;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  close(pidfd_);
  pidfd_ = -1;
  pid_ = 0;
  return true;
}

bool DaemonProcess::running() { return !reap(false); }

void DaemonProcess::signal(int number) const {
  if (pid_ != 0) kill(pid_, number);
}

void DaemonProcess::kill9() {
  signal(SIGKILL);
  reap(true);
}

std::optional<int> DaemonProcess::wait_exit(std::chrono::milliseconds patience) {
  const Until until = Clock::now() + patience;
  while (running()) {
    pollfd ended{.fd = pidfd_, .events = POLLIN, .revents = 0};
    if (poll(&ended, 1, remaining_ms(until)) == 0) return std::nullopt;
  }
  receive_notifications();
  return exit_code_;
}

int DaemonProcess::terminate(std::chrono::milliseconds patience) {
  signal(SIGTERM);
  if (const auto code = wait_exit(patience)) return *code;
  kill9();
  return -SIGKILL;
}

bool DaemonProcess::await_notification(const std::string& prefix,
                                       std::chrono::milliseconds patience) {
  const auto is_it = [&](const std::string& one) { return one.starts_with(prefix); };
  const Until until = Clock::now() + patience;
  receive_notifications();
  while (std::ranges::none_of(notifications_, is_it)) {
    if (!running() || Clock::now() >= until) {
      receive_notifications();
      return std::ranges::any_of(notifications_, is_it);
    }
    await_anything(until);
  }
  return true;
}

bool DaemonProcess::await_ready(std::chrono::milliseconds patience) {
  return await_notification("READY=1", patience);
}

const std::vector<std::string>& DaemonProcess::notifications() {
  receive_notifications();
  return notifications_;
}

bool DaemonProcess::await_text(const fs::path& file, std::size_t from, const std::string& text,
                               std::chrono::milliseconds patience) {
  const Until until = Clock::now() + patience;
  while (true) {
    const bool last = !running() || Clock::now() >= until;
    if (tail_of(file, from).find(text) != std::string::npos) return true;
    if (last) return false;
    await_anything(until);
  }
}

bool DaemonProcess::await_log(const std::string& text, std::chrono::milliseconds patience) {
  return await_text(log_file(), log_start_, text, patience);
}

bool DaemonProcess::await_audit(const std::string& text, std::chrono::milliseconds patience) {
  return await_text(audit_file(), audit_start_, text, patience);
}

std::string DaemonProcess::log_text() const { return content_of(log_file()); }

std::string DaemonProcess::audit_text() const { return content_of(audit_file()); }

std::string DaemonProcess::output_text() const { return content_of(directory() / "output.txt"); }

boost::json::object DaemonProcess::status_json() const {
  const std::string text = content_of(log_directory() / "status.json");
  return text.empty() ? boost::json::object{} : boost::json::parse(text).as_object();
}

std::uint16_t DaemonProcess::admin_port() const {
  const std::string log = tail_of(log_file(), log_start_);
  const std::string mark = "admin: listening port=";
  const std::size_t at = log.rfind(mark);
  if (at == std::string::npos) return 0;
  return static_cast<std::uint16_t>(std::stoi(log.substr(at + mark.size())));
}

HttpAnswer DaemonProcess::http_get(const std::string& target,
                                   std::chrono::milliseconds patience) const {
  const std::string request =
      "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  const std::string answer = converse(admin_port(), request, Clock::now() + patience);
  const std::size_t end_of_head = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.1 ") || end_of_head == std::string::npos) return {};
  return {.status = std::stoi(answer.substr(9, 3)), .body = answer.substr(end_of_head + 4)};
}

void DaemonProcess::print_end_of_log() const {
  std::vector<std::string> lines;
  std::istringstream text(log_text());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  const std::size_t first = lines.size() > kLinesShown ? lines.size() - kLinesShown : 0;
  std::fprintf(stderr, "%s\n--- end of %s\n", output_text().c_str(), log_file().c_str());
  for (std::size_t i = first; i < lines.size(); ++i) std::fprintf(stderr, "%s\n", lines[i].c_str());
  if (exit_code_) std::fprintf(stderr, "--- it ended: %d\n", *exit_code_);
}

}  // namespace order_timeout::testing
