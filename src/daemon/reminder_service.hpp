// The ZSET: reads what is in it at start, then what falls due by score, and removes members whose
// order is settled. PostgreSQL says what each order is; Redis may be down, empty or full of
// garbage, and nothing but extensions waits.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <vector>

#include "daemon/context.hpp"

namespace order_timeout::daemon {

class ReminderService {
 public:
  explicit ReminderService(Context& context) : c_(context) { look_from_the_start(); }

  // Asks Redis once, before the first close: an order that a score has extended is not to be closed
  // because nobody knew yet that Redis is there.
  boost::asio::awaitable<void> meet();

  // Another sorted set, or other members in it: all of it is read once more.
  void begin_anew();

  // Runs until the daemon stops. Only to be called with a `redis` section.
  boost::asio::awaitable<void> watch_reminders();

 private:
  // How far by score the set has been read. Members read once need no second look: their orders are
  // tracked, and go from the set when they are settled. From time to time all is read again, for
  // what came in below.
  struct Progress {
    double score = 0;
    int read_at_score = 0;
    std::chrono::steady_clock::time_point restart_at;
  };

  boost::asio::awaitable<bool> take_turn();
  void note_up();
  void look_from_the_start();
  boost::asio::awaitable<bool> read_everything();
  boost::asio::awaitable<bool> poll();
  boost::asio::awaitable<void> take(std::vector<Reminder> reminders);
  boost::asio::awaitable<bool> remove_settled();
  boost::asio::awaitable<bool> compare_clocks();
  void track(const ResolvedReminder& resolved, double score);
  void settle(Reminder reminder);
  void advance_over(const std::vector<Reminder>& page);
  bool answered(const Failure* failure);

  Context& c_;
  Progress progress_;
  bool read_once_ = false;
  std::chrono::steady_clock::time_point next_clock_check_;
};

}  // namespace order_timeout::daemon
