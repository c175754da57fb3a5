// A PostgreSQL cluster of the tests' own: in a private directory under /tmp, on a unix socket
// there, as user postgres where the tests run as root. It ends with its owner, and also when the
// test program is killed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "support/temp_dir.hpp"

namespace order_timeout::testing {

class PostgresServer {
 public:
  struct Options {
    bool tcp = false;   // listen on 127.0.0.1 as well, on a free port
    bool fsync = true;  // false: faster, for tests that never crash the machine
    int max_connections = 100;
    std::vector<std::string> settings{};  // lines of postgresql.conf
  };

  // One server for the whole test program, started at the first call, stopped at exit. For tests
  // that do not stop it.
  static PostgresServer& shared();

  // Makes the cluster and starts it. Throws std::runtime_error with the server's words where that
  // fails.
  PostgresServer();
  explicit PostgresServer(Options options);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // A fresh database with the sample shop and our objects, cloned from a template made once. Its
  // name.
  std::string new_database();
  // A fresh database with nothing in it. Its name.
  std::string new_empty_database();
  // Ends its sessions first. Not needed, but a program of many tests keeps the disk quiet with it.
  void drop_database(const std::string& name);

  // For libpq, through the unix socket; by TCP with tcp_url(), for servers with Options::tcp.
  std::string url(const std::string& database, const std::string& user = "postgres") const;
  std::string tcp_url(const std::string& database, const std::string& user = "postgres") const;

  // Each waits until it is done (60 s at most) and throws where it fails.
  void start();
  void stop_fast();
  void stop_immediate();  // as a crash: recovery follows at the next start
  void restart();         // fast

  // Of the running server; 0 while it is stopped.
  pid_t postmaster_pid() const;
  std::string socket_dir() const { return directory_.path().string(); }
  int port() const { return port_; }  // part of the socket's name, and of TCP
  std::filesystem::path data_dir() const { return directory_.path() / "data"; }
  std::filesystem::path log_file() const { return directory_.path() / "server.log"; }

 private:
  void create_cluster();
  void stop(const std::string& mode);
  void watch();
  void make_template();
  void run(std::vector<std::string> arguments) const;
  std::string create_database(const std::string& template_name);

  Options options_;
  TempDir directory_;
  int port_ = 5432;
  pid_t watcher_ = 0;
  int watcher_pipe_ = -1;
  std::mutex databases_;  // tests clone from several threads
  bool template_made_ = false;
  int databases_made_ = 0;
};

}  // namespace order_timeout::testing
