// The few connections to PostgreSQL, each with a thread of its own, and the bounds on their use.
// Everything here is called on the loop thread and returns at once; blocking happens behind it.
//
// - Reserved: of the connections that work, the first is closing's, the second discovery's (and the
//   outbox's); the rest takes whatever waits. Opened only when needed, ended at max_lifetime.
// - Bounded: a call waits at most acquire_timeout for a connection and at most its own deadline for
//   its end (plus connect_timeout where one has to be opened). libpq has no deadline of its own, so
//   the socket is shut down, which wakes the thread.
// - A server process whose connection broke or was cut may live on, stopped or waiting. It counts
//   against the bound until pg_stat_activity does not show it any more, so that the server never
//   sees more than `connections` of ours; only where not one would be left to work, one is opened
//   beside it.
//
// g++ 12 destroys some temporaries of a co_await statement twice: callers make the work first, in a
// plain function that returns the awaitable.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "order_timeout/config.hpp"
#include "postgres/task.hpp"
#include "postgres/worker.hpp"

namespace order_timeout::postgres {

struct BulkheadCounters {
  int open = 0;                 // connections
  int busy = 0;                 // running a call
  int queued = 0;               // calls waiting for a connection
  int lost = 0;                 // server processes without a connection, not known to have ended
  std::int64_t reconnects = 0;  // connections opened in place of broken or cut ones, in all
};

class Bulkhead {
 public:
  // Opens nothing yet. A database.url that cannot be read fails every call (rejected).
  Bulkhead(asio::any_io_executor loop, const DatabaseConfig& database);
  // Cuts what still runs and joins the threads. stop() first; on the loop thread, or after the loop
  // has ended.
  ~Bulkhead();
  Bulkhead(const Bulkhead&) = delete;
  Bulkhead& operator=(const Bulkhead&) = delete;

  // Runs `work(connection)` on a connection's thread. It takes what it needs by value and gives a
  // value or a Result. Failures: overloaded (no connection within acquire_timeout, or too many
  // waiting), unavailable (no connection could be opened, or stopping), timed_out (the deadline
  // passed), unknown (it passed, or the connection broke, while something was written), else what
  // the work met.
  template <class Work>
  auto run(Use use, Duration deadline, Work work)
      -> asio::awaitable<Result<typename TaskFor<Work>::Value>> {
    using Value = typename TaskFor<Work>::Value;
    auto call = std::make_shared<CallFor<Value>>(loop_, use, deadline);
    submit(call, std::make_unique<TaskFor<Work>>(std::move(work)));
    return answer_to<Value>(std::move(call));
  }

  // Takes no new calls, fails those that wait, gives those that run until `deadline` and then cuts
  // them. May be called twice. Ends at most a second after the deadline.
  asio::awaitable<void> stop(Duration deadline);

  BulkheadCounters counters() const;
  // For a call of so many statements: the server's own timeout first, ours behind it.
  Duration deadline_for(int statements) const;

 private:
  static constexpr std::size_t kWaitingMax = 256;  // per use; more are refused

  // Shared with the timers' callbacks, which may come after the answer.
  using SharedCall = std::shared_ptr<Call>;
  struct Waiting {
    SharedCall call;
    std::unique_ptr<Task> task;
  };
  struct Member {
    std::unique_ptr<Worker> worker;
    bool parked = false;  // stands for a lost server process
    bool open = false;
    SharedCall call;  // what it runs
  };

  void submit(SharedCall call, std::unique_ptr<Task> task);
  void start(Member& member, SharedCall call, std::unique_ptr<Task> task);
  Member* member_for(Use use);
  void dispatch();
  bool dispatch_one(Use use);
  void take_back(std::size_t index, Report report);
  void arm(const SharedCall& call, Duration wait);
  void time_passed(const SharedCall& call);
  void give_up_waiting(const SharedCall& call);
  void cut(const SharedCall& call);
  void refuse_waiting();
  void count_as_lost(const Backend& backend);
  void park_for_lost();
  void look_later();
  void look_for_lost();
  void strike_lost(const std::vector<Backend>& asked, const std::vector<Backend>& still_there);
  int busy() const;

  const asio::any_io_executor loop_;
  const DatabaseConfig database_;
  std::optional<Failure> unusable_;  // what is wrong with database.url
  std::array<std::deque<Waiting>, 3> waiting_;
  std::vector<Backend> lost_;
  Duration look_wait_{};   // until the next look for lost ones
  bool looking_ = false;   // for lost ones: the timer or the query runs
  bool look_due_ = false;  // as soon as a member is free
  bool stopping_ = false;
  std::size_t turn_ = 0;  // which use is served first
  std::int64_t reconnects_ = 0;
  asio::steady_timer look_timer_;
  asio::steady_timer quiet_;  // cancelled when nothing runs any more
  std::shared_ptr<const bool> alive_ =
      std::make_shared<bool>(true);  // callbacks outlive us in the loop's queue
  std::vector<Member> members_;      // last: their threads end before the rest goes
};

}  // namespace order_timeout::postgres
