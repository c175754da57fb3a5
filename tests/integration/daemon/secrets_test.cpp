// Proves that no secret of a configuration leaves the daemon: a run with four of them, everything
// about it going wrong, and then every byte that the run produced is searched for them, whole, in
// part and escaped.
#include <csignal>
#include <filesystem>

#include "support/redis_server.hpp"
#include "support/reload_fixture.hpp"
#include "support/stock_service.hpp"

namespace order_timeout::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// As people choose them: with what has to be escaped in URLs and headers.
const std::string kDatabase = "hush+db/7Kq9";
const std::string kRedis = "hush+redis/3Wm2";
const std::string kToken = "hush+token/5Zx8";
const std::string kKey = "hush-key-4Rt6";

// The secrets, parts of them that are long enough to harm, and how they look in URLs and base64.
const std::vector<std::string> kTraces = {"hush",
                                          "7Kq9",
                                          "3Wm2",
                                          "5Zx8",
                                          "4Rt6",
                                          "%2Bdb%2F7K",
                                          "aHVzaCtkYi83",
                                          "aHVzaCtyZWRpcy8",
                                          "aHVzaCt0b2tlbi8",
                                          "aHVzaC1rZXkt"};

class Secrets : public ReloadFixture {
 protected:
  void keep(const DaemonProcess& daemon, const std::string& name, const std::string& secret) {
    const fs::path path = daemon.directory() / name;
    std::ofstream(path) << secret << '\n';
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  }
  static void expect_none_in(const std::string& text, const std::string& where) {
    for (const std::string& trace : kTraces) {
      EXPECT_EQ(text.find(trace), std::string::npos) << where << " holds " << trace;
    }
  }
  void keep_all(const DaemonProcess& daemon) {
    keep(daemon, "token", kToken);
    keep(daemon, "db", "hush%2Bdb%2F7Kq9");
    keep(daemon, "redis", "hush%2Bredis%2F3Wm2");
  }
  DaemonSetup setup_with(const stock::StockService& stock, const test::RedisServer& redis) const {
    DaemonSetup setup;
    setup.environment = {{"STOCK_KEY", kKey}};
    setup.database_url = url() + "&password=${file:DIR/db}";
    setup.extra =
        "log: {level: trace}\n"
        "redis: {url: \"redis://:${file:DIR/redis}@127.0.0.1:" +
        std::to_string(redis.port()) +
        "/0\", poll_interval: 100ms}\n"
        "events:\n  release_stock:\n    url: \"" +
        stock.url() +
        "\"\n"
        "    headers: {Authorization: \"Bearer ${file:DIR/token}\", X-Key: \"${STOCK_KEY}\"}\n";
    return setup;
  }
  void allow_connections(bool allowed) {
    Session elsewhere(server_.url("postgres"));
    elsewhere.exec("alter database " + database_ + " allow_connections " +
                   (allowed ? "true" : "false"));
  }
  // Answers that refuse us, and connections that are cut.
  void fail_in_every_way(DaemonProcess& daemon, stock::StockService& stock) {
    stock::Fault fault;
    fault.kind = stock::FaultKind::status;
    fault.status = 401;
    stock.set_fault(fault);
    ASSERT_TRUE(await_closed(place_order()));
    EXPECT_TRUE(daemon.await_log("sink:release_stock: down"));
    allow_connections(false);
    shop_.exec(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = "
        "'order_timeout_daemon' and datname = current_database()");
    EXPECT_TRUE(daemon.await_log("postgres: down"));
    allow_connections(true);
    EXPECT_TRUE(daemon.await_log("postgres: up again"));
  }
  void reload_good_and_bad(DaemonProcess& daemon) {
    keep(daemon, "token", kToken + "-2");
    expect_none_in(ctl(daemon, {"reload"}), "reload");
    fs::permissions(daemon.directory() / "db", fs::perms::others_read, fs::perm_options::add);
    const ProgramRun open_file = ctl(daemon, {"reload"});
    EXPECT_THAT(open_file.err, HasSubstr("can be read by others"));
    expect_none_in(open_file, "reload with an open file");
    keep(daemon, "db", "hush%2Bdb%2F7Kq9");
    const std::string good = daemon.configuration();
    for (const std::string& broken :
         {good + "database: {}\n", good + "evnts: {x: {headers: {A: \"" + kToken + "\"}}}\n",
          good + "alert: {webhook: \"http://h/" + kToken + "\"}\n", good + "x: \"" + kToken}) {
      write_file(daemon, broken);
      expect_none_in(ctl(daemon, {"reload"}), "reload of " + broken.substr(good.size(), 8));
    }
    write_file(daemon, good);
  }
  void ask_everything(const DaemonProcess& daemon) {
    for (const char* verb : {"status", "check"}) expect_none_in(ctl(daemon, {verb}), verb);
    const std::vector<std::string> print = {ORDER_TIMEOUTD,
                                            "--config",
                                            daemon.config_file().string(),
                                            "--set",
                                            "events.release_stock.headers={}",
                                            "--print-config"};
    expect_none_in(run_program(print), "--print-config");
    expect_none_in(daemon.http_get("/metrics").body, "/metrics");
    expect_none_in(daemon.http_get("/readyz").body, "/readyz");
    expect_none_in(file_content("/proc/" + std::to_string(daemon.pid()) + "/cmdline"), "argv");
  }
  static void expect_none_in(const ProgramRun& run, const std::string& where) {
    expect_none_in(run.out, where);
    expect_none_in(run.err, where);
  }
};

TEST_F(Secrets, StandInNothingThatARunProduces) {
  stock::StockService stock;
  const test::RedisServer redis({.tcp = true, .requirepass = "another", .arguments = {}});
  DaemonProcess daemon(setup_with(stock, redis));
  keep_all(daemon);
  for (std::string* text : {&daemon.setup().database_url, &daemon.setup().extra}) {
    *text = std::regex_replace(*text, std::regex("DIR"), daemon.directory().string());
  }
  daemon.start();
  ASSERT_TRUE(daemon.await_ready());
  ASSERT_TRUE(await_closed(place_order()));
  ASSERT_TRUE(stock.wait_for_calls(1, kPatience));
  EXPECT_EQ(stock.last_request().headers["authorization"], "Bearer " + kToken);
  EXPECT_EQ(stock.last_request().headers["x-key"], kKey);
  EXPECT_TRUE(daemon.await_log("redis: down"));

  fail_in_every_way(daemon, stock);
  reload_good_and_bad(daemon);
  ask_everything(daemon);
  EXPECT_EQ(daemon.terminate(), 0);

  int searched = 0;
  for (const auto& entry : fs::recursive_directory_iterator(daemon.directory())) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().filename().string();
    if (name == "token" || name == "db" || name == "redis") continue;
    expect_none_in(file_content(entry.path()), name);
    ++searched;
  }
  EXPECT_GE(searched, 6) << "configuration, snapshot, log, audit log, status, output";
  EXPECT_THAT(file_content(daemon.directory() / "last-good.yaml"), HasSubstr("${file:"));
}

TEST_F(Secrets, InAFileThatOthersCanReadAreRefusedAtStart) {
  DaemonProcess daemon({.database_url = url()});
  const fs::path path = daemon.directory() / "token";
  std::ofstream(path) << "t";
  fs::permissions(path, fs::perms::owner_read | fs::perms::others_read);
  daemon.setup().release_stock =
      "{url: \"http://127.0.0.1:1/\", headers: {X: \"${file:" + path.string() + "}\"}}";
  daemon.start();
  EXPECT_EQ(daemon.wait_exit(), 78);
  EXPECT_THAT(daemon.output_text(),
              HasSubstr("token\" can be read by others; it may hold a secret: chmod o-r it"));
}

}  // namespace
}  // namespace order_timeout::testing
