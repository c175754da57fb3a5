// Proves that closing does not depend on Redis: stopped, flushed, restarted empty, frozen, refusing
// us in every way it knows, or full of garbage, each order closes on time and none early. The log
// has one line when Redis goes and one when it comes back, and members of closed orders are removed
// then.
#include <gmock/gmock.h>
#include <hiredis/hiredis.h>

#include <sstream>

#include "integration/daemon/fault_fixture.hpp"
#include "support/redis_server.hpp"

namespace order_timeout::testing {
namespace {

using namespace std::chrono_literals;

const char* const kKey = "delay:close:order";

class RedisFaults : public FaultFixture {
 protected:
  enum class Lines { one_each, at_most_one_each };
  struct Fault {
    std::string name;
    std::function<void()> strike;
    std::function<void()> mend = [] {};
    Lines lines = Lines::one_each;
    std::chrono::milliseconds lasts = 2500ms;
  };

  void SetUp() override {
    daemon_.start();
    ASSERT_TRUE(daemon_.await_ready());
    ASSERT_TRUE(daemon_.await_log("redis: up"));
    shop_for(1s);
  }

  void TearDown() override {
    EXPECT_TRUE(await_released(count("t_order")));
    expect_books_balance();
    const Lateness late = lateness();
    EXPECT_LE(late.p999_ms, 1'000) << late.closed << " orders";
    EXPECT_LE(late.max_ms, 2'000);
    RecordProperty("late_p999_ms", std::to_string(late.p999_ms));
    EXPECT_EQ(daemon_.terminate(), 0);
  }

  // Orders with a reminder each, as far as Redis takes it. `score` is an SQL expression.
  void shop_for(std::chrono::milliseconds how_long) {
    keep_ordering(how_long, [&](PlacedOrders placed) {
      if (!frozen_) remind(placed);
    });
  }

  void remind(PlacedOrders placed) {
    std::vector<std::string> words = {"ZADD", kKey};
    for (const Row& row :
         shop_.rows("select " + score_ + ", order_no from t_order o where o.id between " +
                    std::to_string(placed.first) + " and " + std::to_string(placed.last))) {
      words.insert(words.end(), {row.at(0).value(), row.at(1).value()});
    }
    try {
      redis_.command(words);
    } catch (const std::runtime_error&) {  // a shop does without
    }
  }

  int downs() const { return times("redis: down", daemon_.log_text()); }
  int ups() const { return times("redis: up again", daemon_.log_text()); }

  std::int64_t members_of_closed_orders() {
    std::istringstream members(redis_.command({"ZRANGE", kKey, "0", "-1"}));
    std::string names = "''";
    for (std::string member; std::getline(members, member);) {
      if (member.starts_with("SO")) names += ",'" + member + "'";
    }
    return count("t_order where status = 'CLOSED' and order_no in (" + names + ")");
  }

  void suffer(const Fault& fault) {
    SCOPED_TRACE(fault.name);
    const int downs_before = downs();
    const int ups_before = ups();
    shop_for(500ms);  // so that there are members to be removed
    fault.strike();
    shop_for(fault.lasts);
    fault.mend();
    shop_for(fault.lasts / 2);
    if (fault.lines == Lines::one_each) {
      EXPECT_TRUE(await([&] { return ups() > ups_before; })) << "not back";
    }
    ASSERT_TRUE(await_all_closed());
    EXPECT_TRUE(await([&] { return members_of_closed_orders() == 0; }))
        << members_of_closed_orders() << " members of closed orders";
    const int went = downs() - downs_before;
    const int came_back = ups() - ups_before;
    EXPECT_EQ(went, came_back);
    EXPECT_LE(went, 1);
    EXPECT_GE(went, fault.lines == Lines::one_each ? 1 : 0);
  }

  void config_set(const std::string& name, const std::string& value) {
    redis_.command({"CONFIG", "SET", name, value});
  }

  // On one connection: a second one would be locked out as well.
  void lock_out() {
    redisContext* const context = redisConnectUnix(redis_.socket_path().c_str());
    for (const char* command :
         {"CONFIG SET requirepass another", "CLIENT KILL TYPE normal SKIPME yes"}) {
      void* const reply = redisCommand(context, command);
      EXPECT_NE(reply, nullptr) << command;
      freeReplyObject(reply);
    }
    redisFree(context);
  }

  const std::string due_ms_ = "(extract(epoch from " + kDueAfterOneSecond + ") * 1000)::bigint";
  std::string score_ = due_ms_;
  bool frozen_ = false;  // a write would wait
  test::RedisServer redis_;
  DaemonProcess daemon_{{.database_url = url(), .redis_url = redis_.url()}};
};

TEST_F(RedisFaults, StoppedFlushedRestartedEmptyAndFrozen) {
  suffer({"stopped", [&] { redis_.stop(); }, [&] { redis_.start(); }});
  const auto restart = [&] {
    redis_.kill();
    redis_.start();
  };
  suffer({"restarted empty", restart, [] {}, Lines::at_most_one_each});
  const auto flush = [&] { redis_.command({"FLUSHALL"}); };
  suffer({"flushed", flush, [] {}, Lines::at_most_one_each});
  const auto freeze = [&] {
    redis_.pause();
    frozen_ = true;
  };
  const auto thaw = [&] {
    redis_.resume();
    frozen_ = false;
  };
  suffer({"frozen", freeze, thaw});
  EXPECT_GE(downs(), 2);
}

TEST_F(RedisFaults, RefusingInEveryWayThatItKnows) {
  const auto spoil = [&] {
    redis_.command({"DEL", kKey});
    redis_.command({"SET", kKey, "no set"});
  };
  suffer({"WRONGTYPE", spoil, [&] { redis_.command({"DEL", kKey}); }});
  const auto serve_a_dead_primary = [&] { redis_.command({"REPLICAOF", "127.0.0.1", "1"}); };
  const auto be_primary = [&] { redis_.command({"REPLICAOF", "NO", "ONE"}); };
  suffer({"READONLY", serve_a_dead_primary, be_primary});
  const auto serve_nothing = [&] {
    config_set("replica-serve-stale-data", "no");
    serve_a_dead_primary();
  };
  suffer({"MASTERDOWN", serve_nothing, be_primary});
  suffer({"OOM", [&] { config_set("maxmemory", "1"); }, [&] { config_set("maxmemory", "0"); },
          Lines::at_most_one_each});
  const auto unlock = [&] {  // by a restart: nobody knows the password
    redis_.stop();
    redis_.start();
  };
  suffer({"NOAUTH", [&] { lock_out(); }, unlock});
  const std::string log = daemon_.log_text();
  for (const char* cause : {"WRONGTYPE", "READONLY", "MASTERDOWN"}) {
    EXPECT_THAT(log, ::testing::HasSubstr(cause));
  }
}

TEST_F(RedisFaults, FullOfGarbage) {
  const std::vector<std::string> members = {std::string("\x00\xff\xfe\r\n$5\r\n", 9),
                                            std::string(1'000'000, 'x'), "",
                                            "?'\"; drop table t_order; --", "SO999999999"};
  const auto add = [&] {
    for (const std::string score : {"0", "-inf", "+inf", "1e300", "-1e300", "1700000000000"}) {
      for (const std::string& member : members) {
        redis_.command({"ZADD", kKey, score, member});
        redis_.command({"ZADD", kKey, score, score + member});
      }
    }
  };
  suffer({"members", add, [] {}, Lines::at_most_one_each});
  EXPECT_EQ(downs(), 0);
}

TEST_F(RedisFaults, ScoresThatAreNoTimes) {
  for (const std::string score : {"'inf'", "'-inf'", "'1e300'", "'-1e300'", "'0'"}) {
    suffer({score, [&, score] { score_ = score; }, [&] { score_ = due_ms_; },
            Lines::at_most_one_each, 1500ms});
  }
  EXPECT_EQ(downs(), 0);
}

}  // namespace
}  // namespace order_timeout::testing
