// One thread and the connection it creates, uses and destroys. The loop hands it one task at a time
// and may cut the connection under it; everything else between the two goes by value.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "postgres/connection.hpp"
#include "postgres/task.hpp"

namespace order_timeout::postgres {

struct WorkerOptions {
  ConnectionOptions connection;
  Duration max_lifetime{1'800'000};
};

// What comes back to the loop with a task.
struct Report {
  std::unique_ptr<Task> task;
  bool open = false;            // a connection is kept
  bool reopened = false;        // one was opened in place of one that had broken or was cut
  std::optional<Backend> lost;  // broken or cut: the server process behind it may live on
};

// What a cut met.
enum class Cut : std::uint8_t {
  connecting,  // no connection yet: the task will not begin
  running,     // the task will end with a broken connection
  finished,    // too late: the report is on its way
};

class Worker {
 public:
  // `report` is called on the worker's thread and has to post to the loop.
  Worker(WorkerOptions options, std::function<void(Report)> report);
  // Ends the thread: a connect that is under way is waited for (connect_timeout), everything else
  // is cut.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Loop. One task at a time: the next only after the report on the last.
  void give(std::unique_ptr<Task> task);
  // Loop. Wakes the thread out of whatever it waits for on the server and marks its connection as
  // not to be used again.
  Cut cut();
  // Loop. No task will follow: the connection is closed as soon as the thread is idle.
  void retire();

 private:
  void run();
  std::unique_ptr<Task> next();
  Report perform(std::unique_ptr<Task> task);
  bool ensure_open(Task& task);
  void open();
  void drop_where_spent();
  void publish(int socket);
  bool withdraw();  // was it cut?

  const WorkerOptions options_;
  const std::function<void(Report)> report_;

  // The thread's own.
  std::unique_ptr<Connection> connection_;
  std::chrono::steady_clock::time_point spent_at_;
  std::minstd_rand random_{std::random_device{}()};
  bool broken_before_ = false;

  // Between the two. The socket is that of a connection the thread keeps open while it stands here,
  // so that shutdown(2) never hits a descriptor that was closed and used again.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Task> given_;
  bool retired_ = false;
  bool cut_ = false;
  bool finished_ = true;
  int socket_ = -1;

  std::thread thread_;  // last: it begins when all else is there
};

}  // namespace order_timeout::postgres
