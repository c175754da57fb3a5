#include "support/redis_server.hpp"

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace order_timeout::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kStartLimit = std::chrono::seconds(10);
constexpr int kStopLimitMs = 5'000;
constexpr int kStartTries = 5;

std::filesystem::path make_folder() {
  const char* const base = std::getenv("TMPDIR");
  std::string pattern = std::string(base != nullptr ? base : "/tmp") + "/redis.XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed: " + pattern);
  return pattern;
}

// Free when asked; another program may take it until it is used, which is why start is tried again.
std::uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(fd);
  if (!bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

struct FreeContext {
  void operator()(redisContext* context) const { redisFree(context); }
};
struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Context = std::unique_ptr<redisContext, FreeContext>;
using ReplyPtr = std::unique_ptr<redisReply, FreeReply>;

ReplyPtr ask(redisContext* context, const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  return ReplyPtr(static_cast<redisReply*>(
      redisCommandArgv(context, static_cast<int>(words.size()), texts.data(), sizes.data())));
}

std::string text_of(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_NIL:
      return "(nil)";
    case REDIS_REPLY_INTEGER:
      return std::to_string(reply.integer);
    case REDIS_REPLY_ARRAY: {
      std::string lines;
      for (std::size_t i = 0; i < reply.elements; ++i) lines += text_of(*reply.element[i]) + "\n";
      return lines;
    }
    default:
      return std::string(reply.str, reply.len);
  }
}

// Only calls that are safe between fork and exec.
[[noreturn]] void become(char* const* arguments, const char* log_path) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvp(arguments[0], arguments);
  _exit(127);
}

}  // namespace

RedisServer::RedisServer() : RedisServer(Options{}) {}

RedisServer::RedisServer(Options options) : options_(std::move(options)), folder_(make_folder()) {
  try {
    start();
  } catch (...) {
    kill();
    std::filesystem::remove_all(folder_);
    throw;
  }
}

RedisServer::~RedisServer() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string RedisServer::url() const {
  const std::string credentials =
      options_.requirepass.empty() ? "" : ":" + options_.requirepass + "@";
  if (options_.tcp) return "redis://" + credentials + "127.0.0.1:" + std::to_string(port_);
  return "unix://" + credentials + socket_path();
}

void RedisServer::start() {
  if (pid_ != 0) return;
  for (int tries = 0; tries < kStartTries; ++tries) {
    if (options_.tcp && (port_ == 0 || tries > 0)) port_ = free_port();
    spawn();
    if (wait_until_ready()) return;
    kill();
  }
  throw std::runtime_error("redis-server does not start: " + log());
}

void RedisServer::spawn() {
  std::vector<std::string> words = {"redis-server",
                                    "--port",
                                    std::to_string(port_),
                                    "--bind",
                                    "127.0.0.1",
                                    "--unixsocket",
                                    socket_path(),
                                    "--dir",
                                    folder_.string(),
                                    "--save",
                                    "",
                                    "--appendonly",
                                    "no",
                                    "--daemonize",
                                    "no"};
  if (!options_.requirepass.empty()) {
    words.insert(words.end(), {"--requirepass", options_.requirepass});
  }
  words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string log_path = (folder_ / "redis.log").string();
  pid_ = fork();
  if (pid_ == 0) become(arguments.data(), log_path.c_str());
  if (pid_ < 0) {
    pid_ = 0;
    throw std::runtime_error("fork failed");
  }
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

// Asks again every 5 ms, unless the server ends meanwhile.
bool RedisServer::wait_until_ready() const {
  const auto limit = Clock::now() + kStartLimit;
  while (Clock::now() < limit) {
    const Context context(redisConnectUnix(socket_path().c_str()));
    if (context && context->err == 0) {
      const ReplyPtr reply = ask(context.get(), {"PING"});
      // With a password, NOAUTH is an answer too.
      if (reply &&
          (reply->type == REDIS_REPLY_STATUS || std::string(reply->str).starts_with("NOAUTH"))) {
        return true;
      }
    }
    if (wait_for_exit(5)) return false;
  }
  return false;
}

bool RedisServer::wait_for_exit(int timeout_ms) const {
  pollfd exited{pidfd_, POLLIN, 0};
  return poll(&exited, 1, timeout_ms) > 0;
}

void RedisServer::stop() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGCONT);
  ::kill(pid_, SIGTERM);
  wait_for_exit(kStopLimitMs);
  kill();
}

void RedisServer::kill() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  forget();
}

void RedisServer::forget() {
  waitpid(pid_, nullptr, 0);
  close(pidfd_);
  pid_ = 0;
  pidfd_ = -1;
}

void RedisServer::pause() {
  ::kill(pid_, SIGSTOP);
  int status = 0;
  waitpid(pid_, &status, WUNTRACED);  // stopped for certain when this returns
}

void RedisServer::resume() { ::kill(pid_, SIGCONT); }

std::string RedisServer::command(const std::vector<std::string>& words) const {
  const timeval limit{5, 0};
  const Context context(redisConnectUnixWithTimeout(socket_path().c_str(), limit));
  if (!context || context->err != 0) throw std::runtime_error("redis is not there");
  redisSetTimeout(context.get(), limit);
  if (!options_.requirepass.empty()) ask(context.get(), {"AUTH", options_.requirepass});
  const ReplyPtr reply = ask(context.get(), words);
  if (!reply) throw std::runtime_error(words.front() + ": " + context->errstr);
  if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error(words.front() + ": " + reply->str);
  return text_of(*reply);
}

void RedisServer::zadd(const std::string& key, double score, const std::string& member) const {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), score);
  if (error != std::errc{}) throw std::runtime_error("score");
  command({"ZADD", key, std::string(text.data(), end), member});
}

long long RedisServer::zcard(const std::string& key) const {
  return std::stoll(command({"ZCARD", key}));
}

std::string RedisServer::zscore(const std::string& key, const std::string& member) const {
  return command({"ZSCORE", key, member});
}

std::string RedisServer::log() const {
  std::ifstream file(folder_ / "redis.log");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace order_timeout::test
