#include "support/postgres_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <pqxx/pqxx>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "postgres/migrations.hpp"
#include "support/sample_shop.hpp"

namespace order_timeout::testing {

namespace {

namespace fs = std::filesystem;

const char* const kTemplate = "shop_template";

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// PostgreSQL's programs: of the newest version installed.
fs::path programs() {
  std::vector<fs::path> found;
  for (const fs::path root : {"/usr/lib/postgresql", "/usr/pgsql"}) {
    std::error_code missing;
    for (const auto& version : fs::directory_iterator(root, missing)) {
      if (fs::exists(version.path() / "bin/initdb")) found.push_back(version.path() / "bin");
    }
  }
  if (found.empty()) throw std::runtime_error("no PostgreSQL server programs are installed");
  return *std::ranges::max_element(found);
}

const passwd* server_account() {
  const passwd* account = getpwnam("postgres");
  if (account == nullptr) throw std::runtime_error("PostgreSQL refuses root, and no user postgres");
  return account;
}

// In the child, between fork and exec: PostgreSQL refuses to run as root.
void become_server_account(const passwd* account) {
  if (account == nullptr) return;
  if (initgroups(account->pw_name, account->pw_gid) != 0 || setgid(account->pw_gid) != 0 ||
      setuid(account->pw_uid) != 0) {
    _exit(126);
  }
}

int free_tcp_port() {
  const int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT: the sockets API
  const bool bound =
      bind(socket_fd, generic, size) == 0 && getsockname(socket_fd, generic, &size) == 0;
  close(socket_fd);
  if (!bound) throw std::runtime_error("no free TCP port");
  return ntohs(address.sin_port);
}

}  // namespace

PostgresServer& PostgresServer::shared() {
  // A crash of the server loses nothing without fsync, only one of the machine would.
  static PostgresServer server(Options{.fsync = false});
  return server;
}

PostgresServer::PostgresServer() : PostgresServer(Options{}) {}

// Always /tmp: a socket's name holds 107 bytes, and user postgres must be able to enter.
PostgresServer::PostgresServer(Options options)
    : options_(std::move(options)), directory_("/tmp", "ot-postgres-") {
  create_cluster();
  watch();
  start();
}

PostgresServer::~PostgresServer() {
  if (postmaster_pid() != 0) {
    try {
      stop("immediate");
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
  }
  close(watcher_pipe_);
  waitpid(watcher_, nullptr, 0);
}

void PostgresServer::create_cluster() {
  if (geteuid() == 0) {
    const passwd* account = server_account();
    if (chown(directory_.path().c_str(), account->pw_uid, account->pw_gid) != 0) {
      throw std::runtime_error("cannot give " + socket_dir() + " to user postgres");
    }
  }
  run({"initdb", "--pgdata=" + data_dir().string(), "--username=postgres", "--auth=trust",
       "--encoding=UTF8", "--locale=C.UTF-8", "--wal-segsize=4", "--no-sync", "--no-instructions"});
  if (options_.tcp) port_ = free_tcp_port();
  std::ofstream settings(data_dir() / "postgresql.conf", std::ios::app);
  settings << "unix_socket_directories = '" << socket_dir() << "'\n"
           << "listen_addresses = '" << (options_.tcp ? "127.0.0.1" : "") << "'\n"
           << "port = " << port_ << "\nmax_connections = " << options_.max_connections
           << "\nfsync = " << (options_.fsync ? "on" : "off")
           << "\ntrack_commit_timestamp = on\nautovacuum = on\nmax_prepared_transactions = 10\n"
           << "log_line_prefix = '%m [%p] %u@%d '\nlog_timezone = 'UTC'\ntimezone = 'UTC'\n";
  for (const std::string& line : options_.settings) settings << line << '\n';
}

// A process that outlives us by a moment: when our end of the pipe closes, however we end, it stops
// the server and removes its directory.
void PostgresServer::watch() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  watcher_ = fork();
  if (watcher_ == 0) {
    setsid();  // a Ctrl-C at the terminal is for the tests; we follow when they are gone
    dup2(ends[0], STDIN_FILENO);
    const char* script =
        "read -r _; pid=$(head -n 1 \"$0/data/postmaster.pid\" 2>/dev/null) && "
        "{ kill -QUIT \"$pid\" && tail --pid=\"$pid\" -f /dev/null; rm -rf \"$0\"; } 2>/dev/null";
    execl("/bin/sh", "sh", "-c", script, socket_dir().c_str(), nullptr);
    _exit(127);
  }
  close(ends[0]);
  watcher_pipe_ = ends[1];
}

void PostgresServer::run(std::vector<std::string> arguments) const {
  const fs::path output = directory_.path() / "command.log";
  const std::string program = (programs() / arguments.front()).string();
  const passwd* account = geteuid() == 0 ? server_account() : nullptr;
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    become_server_account(account);
    const int log = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    if (chdir("/") != 0) _exit(126);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(arguments.front() + " failed: " + content_of(output) +
                             content_of(log_file()));
  }
}

void PostgresServer::start() {
  run({"pg_ctl", "start", "--wait", "--timeout=60", "--silent", "--pgdata=" + data_dir().string(),
       "--log=" + log_file().string()});
}

void PostgresServer::stop(const std::string& mode) {
  run({"pg_ctl", "stop", "--wait", "--timeout=60", "--silent", "--pgdata=" + data_dir().string(),
       "--mode=" + mode});
}

void PostgresServer::stop_fast() { stop("fast"); }

void PostgresServer::stop_immediate() { stop("immediate"); }

void PostgresServer::restart() {
  stop_fast();
  start();
}

pid_t PostgresServer::postmaster_pid() const {
  std::ifstream file(data_dir() / "postmaster.pid");
  pid_t pid = 0;
  file >> pid;
  return file ? pid : 0;
}

std::string PostgresServer::url(const std::string& database, const std::string& user) const {
  return "postgresql:///" + database + "?host=" + socket_dir() + "&port=" + std::to_string(port_) +
         "&user=" + user;
}

std::string PostgresServer::tcp_url(const std::string& database, const std::string& user) const {
  return "postgresql://" + user + "@127.0.0.1:" + std::to_string(port_) + '/' + database;
}

std::string PostgresServer::create_database(const std::string& template_name) {
  const std::string name = "test_" + std::to_string(++databases_made_);
  pqxx::connection connection(url("postgres"));
  pqxx::nontransaction transaction(connection);
  transaction.exec("CREATE DATABASE " + name + " TEMPLATE " + template_name +
                   (options_.fsync ? "" : " STRATEGY file_copy"));
  return name;
}

void PostgresServer::make_template() {
  {
    pqxx::connection connection(url("postgres"));
    pqxx::nontransaction transaction(connection);
    std::string create = "CREATE DATABASE ";  // appended to: g++ 12 warns of "…" + name at -O1
    create += kTemplate;
    transaction.exec(create);
  }
  {
    pqxx::connection connection(url(kTemplate));
    pqxx::work transaction(connection);
    transaction.exec(content_of(fs::path(ORDER_TIMEOUT_SOURCE_DIR) / "sql/sample/shop.sql"));
    transaction.commit();
  }
  const auto report = postgres::migrate(url(kTemplate), sample_order_table(), false);
  if (!report) throw std::runtime_error("migrate: " + report.error().detail);
  template_made_ = true;
}

std::string PostgresServer::new_database() {
  const std::lock_guard lock(databases_);
  if (!template_made_) make_template();
  return create_database(kTemplate);
}

void PostgresServer::drop_database(const std::string& name) {
  const std::lock_guard lock(databases_);
  pqxx::connection connection(url("postgres"));
  pqxx::nontransaction transaction(connection);
  transaction.exec("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
}

std::string PostgresServer::new_empty_database() {
  const std::lock_guard lock(databases_);
  return create_database("template0");
}

}  // namespace order_timeout::testing
