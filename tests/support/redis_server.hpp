// A Redis of a test's own: a real redis-server in a private temporary folder, without persistence,
// so that a restart empties it. Starts in the constructor, is gone with its folder after the
// destructor. Not for several threads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace order_timeout::test {

class RedisServer {
 public:
  struct Options {
    bool tcp = false;                    // listens on 127.0.0.1 too, on a free port
    std::string requirepass;             // empty: none
    std::vector<std::string> arguments;  // more of redis-server's, e.g. {"--maxmemory", "2mb"}
  };

  // Throws std::runtime_error, with the server's log, where it is not ready within 10 s.
  RedisServer();
  explicit RedisServer(Options options);
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer();

  // unix://…, or redis://127.0.0.1:port with Options::tcp; the password is in it.
  std::string url() const;
  std::string socket_path() const { return (folder_ / "redis.sock").string(); }
  std::uint16_t port() const { return port_; }  // 0 without Options::tcp
  pid_t pid() const { return pid_; }            // 0 while stopped

  void stop();   // in good order; stopped already: nothing
  void start();  // empty, at the same place
  void kill();   // SIGKILL
  void pause();  // SIGSTOP: connections stay open and nothing answers
  void resume();

  // One command on a connection of its own. Text, status and integer as text, nothing as "(nil)",
  // an array as its elements in lines. Throws std::runtime_error for an error reply and when the
  // server is not there.
  std::string command(const std::vector<std::string>& words) const;
  void zadd(const std::string& key, double score, const std::string& member) const;
  long long zcard(const std::string& key) const;
  // Score as Redis writes it, "(nil)" where the member is not there.
  std::string zscore(const std::string& key, const std::string& member) const;

 private:
  void spawn();
  bool wait_until_ready() const;
  bool wait_for_exit(int timeout_ms) const;
  void forget();
  std::string log() const;

  Options options_;
  std::filesystem::path folder_;
  std::uint16_t port_ = 0;
  pid_t pid_ = 0;
  int pidfd_ = -1;
};

}  // namespace order_timeout::test
