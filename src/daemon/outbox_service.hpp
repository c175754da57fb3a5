// Delivering events: one service per configured event, so that a sink that is slow or down never
// holds up another's. Knows nothing of the wheel; the outbox table is all that it shares with
// closing. Read deliver_events() for the flow.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "daemon/context.hpp"
#include "order_timeout/outbox_policy.hpp"

namespace order_timeout::daemon {

class OutboxService {
 public:
  // `name` is the event's key in the configuration.
  OutboxService(Context& context, std::string name, std::shared_ptr<Sink> sink, int concurrency);

  // Other settings, from the next event on: those of the configuration that is in force now.
  void reconfigure(std::shared_ptr<Sink> sink, int concurrency);
  // The configuration knows the event no more: both coroutines end as at a stop.
  void retire();
  // Neither of the two runs any more.
  bool ended() const { return ended_; }

  // Runs until the daemon stops and every event that is out has come back.
  boost::asio::awaitable<void> deliver_events();
  // Writes what came of deliveries, many at once. Runs as long as deliver_events().
  boost::asio::awaitable<void> finish_attempts();

 private:
  struct Finished {
    OutboxEvent event;
    DeliveryOutcome outcome;
    NextStep step;
    std::chrono::steady_clock::time_point at;
  };

  int free_slots() const { return concurrency_ - in_flight_; }
  boost::asio::awaitable<void> deliver_one(OutboxEvent event);
  void start(OutboxEvent event);
  void note_health(const DeliveryOutcome& outcome);
  boost::asio::awaitable<bool> write(std::vector<Finished>& finished);
  void report(const Finished& finished);

  Context& c_;
  std::string name_;
  std::string event_type_;
  std::shared_ptr<Sink> sink_;  // shared with the deliveries that are under way
  OutboxPolicy policy_;
  int concurrency_;
  int in_flight_ = 0;  // claimed and not yet finished
  std::vector<Finished> finished_;
  Bell results_;  // rung when finished_ grows
  Bell slots_;    // rung when in_flight_ shrinks
  bool retired_ = false;
  bool done_ = false;   // nothing is claimed any more and nothing is out
  bool ended_ = false;  // and every result is written
  int unreachable_in_a_row_ = 0;
  std::chrono::steady_clock::time_point pause_until_;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace order_timeout::daemon
