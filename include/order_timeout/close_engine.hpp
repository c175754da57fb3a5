// The decision maker of closing: which orders are tried now, and what follows from each answer.
// Pure: time comes in as a value, batches and verdicts go out as values; it knows no database.
//
//   track() ──> wheel ──> next_batch(now) ──> [database] ──> settle(results) ──> forgotten, or
//   tracked again
//                 ^                               │
//                 └──── fail(batch, failure) <────┘   given back, halved, or set aside
//
// An order is in one of three places: in the wheel, in a batch that is out (in flight), or
// forgotten. A repeated track() of an order in flight changes nothing: the answer on its way is
// newer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "order_timeout/order.hpp"
#include "order_timeout/outcome.hpp"
#include "order_timeout/rate_limiter.hpp"
#include "order_timeout/wheel.hpp"

namespace order_timeout {

class CloseEngine {
 public:
  struct Options {
    std::size_t batch_size = 500;  // most orders in one transaction
    int max_per_second = 0;        // 0: no limit
  };

  // An order whose close has failed by itself, before and after another one closed.
  struct Suspect {
    TrackedOrder order;
    Failure failure;
  };

  // What the caller has to do after an answer or a failure.
  struct Verdict {
    std::vector<Suspect> quarantine;  // write these into the quarantine
    bool back_off = false;            // the database is down or hung: wait before the next batch
    bool broken =
        false;  // has just been found: every close fails alike, closing stops but for probes
    bool mended = false;  // has just been found: a probe closed, closing goes on
  };

  CloseEngine(const Options& options, Instant now);

  // From the next batch on. What waits and what is in flight stays as it is.
  void reconfigure(const Options& options);

  // Takes an order in, or corrects what is known of it. Orders due never are left to the scans.
  // True where the order was not known before. O(1).
  bool track(const TrackedOrder& order);
  // Not before `until`, whatever track() says: a customer's extension by a reminder. O(1).
  void delay(OrderId id, Instant until);
  // What made a postponed order wait is over: it is tried at `at`, were that sooner. O(1).
  void retry_at(OrderId id, Instant at);
  void untrack(OrderId id);

  // Orders to be closed now, at most Options::batch_size; they are in flight until settle() or
  // fail(). Nothing: wait until next_due().
  std::optional<DueBatch> next_batch(Instant now);
  // Takes orders out of a batch before it is sent: they wait until the given instant.
  void postpone(DueBatch& batch, const std::unordered_map<OrderId, Instant>& until);

  Verdict settle(const DueBatch& batch, std::span<const CloseResult> results, Instant now);
  Verdict fail(DueBatch batch, const Failure& failure, Instant now);

  // When next_batch() may have something; nothing while no order is tracked. Never later than the
  // truth.
  std::optional<Instant> next_due(Instant now) const;

  std::size_t pending() const { return wheel_.size() + in_flight_.size(); }
  std::size_t in_flight() const { return in_flight_.size(); }
  bool broken() const { return broken_; }
  std::size_t batch_limit() const { return batch_limit_; }
  std::size_t memory_bytes() const;

 private:
  // An order that waits for more than its due instant.
  struct Wait {
    Instant until{};
    int tries = 0;
  };

  void settle_one(const TrackedOrder& order, const CloseResult& result, Instant now,
                  Verdict& verdict);
  void forget(OrderId id);
  void try_again(TrackedOrder order, Instant at);
  Instant after_backoff(OrderId id, Instant now, Duration first, Duration cap);
  void give_back(const DueBatch& batch);
  void halve(DueBatch batch);
  void suspect(const TrackedOrder& order, const Failure& failure, Instant now, Verdict& verdict);
  void try_suspects_alone();
  void stop_closing(Instant now, Verdict& verdict);
  std::optional<DueBatch> take(DueBatch batch);

  Options options_;
  TimingWheel wheel_;
  RateLimiter limiter_;
  std::size_t batch_limit_;  // shrinks when the database takes too long, grows back with each batch
                             // that closes
  std::unordered_map<OrderId, TrackedOrder> in_flight_;
  std::unordered_map<OrderId, Wait> waits_;
  // Batches to be tried before anything else: halves of one that failed, and those that met a
  // conflict.
  struct Retry {
    DueBatch batch;
    Instant at{};
  };
  std::deque<Retry> retries_;
  // An order that failed alone. At most kAlikeMeansBroken for each SQLSTATE: then closing stops.
  struct Doubt {
    TrackedOrder order;
    std::string sqlstate;
    bool database_was_well =
        false;  // another order has closed since: to fail once more is its own fault
  };
  std::map<OrderId, Doubt> suspects_;
  bool broken_ = false;
  Instant next_probe_{};
};

}  // namespace order_timeout
