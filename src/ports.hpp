// What the services ask of the edges, in our vocabulary. Values in, values out; every call is
// bounded in time and ends with a Result. Called on the loop thread only. Implementations are plain
// functions that return the awaitable (g++ 12 destroys some temporaries of a co_await statement
// twice: see the note in bulkhead.hpp).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "order_timeout/config.hpp"
#include "order_timeout/order.hpp"
#include "order_timeout/outcome.hpp"

namespace order_timeout {

namespace asio = boost::asio;
template <class T>
using Awaitable = asio::awaitable<Result<T>>;

// A place in a scan of pending orders by (created_at, id). `created` is PostgreSQL's text of the
// shop's own column value, so that a page begins exactly where the last one ended, whatever the
// column's type.
struct ScanPosition {
  std::string created;  // empty: from the beginning
  OrderId id = 0;
};

enum class ScanKind : std::uint8_t {
  everything_pending,  // rebuild: every pending order that may be closed some day, due or not
  everything_due,      // nightly: past its deadline and grace, not older than close.max_age
  recently_due,        // catch-up: became due within the window, by own deadlines and overrides too
  deadline_near,       // discovery: own deadlines that have just passed or are about to come
};

struct ScanRequest {
  ScanKind kind = ScanKind::everything_pending;
  ScanPosition after;
  int page_size = 500;
  std::optional<Instant> became_due_since;  // recently_due: lower bound of the due instant
};

struct ScanPage {
  std::vector<TrackedOrder> orders;  // Source is the caller's to set
  std::optional<ScanPosition> next;  // nothing: this was the last page
  std::int64_t scanned = 0;          // rows looked at
  std::int64_t too_old = 0;          // overdue by more than close.max_age: counted, not returned
};

// Everything committed since `watermark`, and the watermark to go on from (DESIGN decision 6).
struct Discovered {
  std::vector<TrackedOrder> orders;
  Instant next_watermark{};
  bool complete = true;  // false: the page was full, ask again at once
};

// An order that a reminder or a timeout_task names.
struct ResolvedReminder {
  std::string member;
  bool found = false;    // an order has this number
  bool pending = false;  // and still waits for payment
  TrackedOrder order;    // where pending
};

struct NamedOrder {
  std::string member;
  Instant due{};
};

// One PENDING row of timeout_task, resolved.
struct TimeoutTask {
  std::string order_no;
  Instant due_at{};
  bool found = false;
  bool pending = false;
  bool stale = false;  // so old that an order that is not found will not come any more
  TrackedOrder order;
};

class OrderStore {
 public:
  virtual ~OrderStore() = default;
  virtual Awaitable<Discovered> discover(Instant watermark) = 0;
  virtual Awaitable<ScanPage> scan(ScanRequest request) = 0;
  // Members are order numbers or ids, as configured. At most 1,000 a call.
  virtual Awaitable<std::vector<ResolvedReminder>> resolve(std::vector<std::string> members) = 0;
  // What these orders' reminders are called (order number or id, as configured), and when the
  // database says they may be closed (deadline + grace, no reminder's extension in it), by order
  // id.
  virtual Awaitable<std::map<OrderId, NamedOrder>> names_of(std::vector<OrderId> ids) = 0;
  virtual Awaitable<std::vector<TimeoutTask>> timeout_tasks() = 0;
  virtual Awaitable<Done> finish_timeout_tasks(std::vector<std::string> order_nos) = 0;
  // ONE transaction: lock, judge, close, write events. One result per order, in any order.
  virtual Awaitable<std::vector<CloseResult>> close_due(DueBatch batch) = 0;
  // Sets an order aside whose close fails by itself; gives the instant of the next try.
  virtual Awaitable<Instant> quarantine(OrderId id, Failure failure) = 0;
};

// What a finished attempt writes into its outbox row (a pure decision of outbox_policy.hpp).
struct FinishedAttempt {
  std::int64_t row_id = 0;
  std::string leased_by;
  EventStatus status = EventStatus::pending;
  Duration wait{0};           // until the next attempt, for pending and uncertain
  bool attempt_spent = true;  // false: the attempt counted at the claim is given back
  std::string last_error;
};

struct EventCount {
  std::string event_type;
  std::string status;
  std::int64_t count = 0;
};

struct OutboxOverview {
  std::vector<EventCount> counts;  // SUCCESS is left out: it is history
  double oldest_claimable_seconds = 0;
};

class OutboxStore {
 public:
  virtual ~OutboxStore() = default;
  // At most `limit` events of one type that may be tried now, leased to us for 30 s.
  virtual Awaitable<std::vector<OutboxEvent>> claim(std::string event_type, int limit) = 0;
  // How many rows were still ours; the others' leases were lost and nothing was written for them.
  virtual Awaitable<std::int64_t> finish(std::vector<FinishedAttempt> attempts) = 0;
  virtual Awaitable<OutboxOverview> overview() = 0;
  // Removes at most `limit` finished events older than `age`, remembering their orders. Rows
  // removed.
  virtual Awaitable<std::int64_t> retire(Duration age, int limit) = 0;
};

struct RuleSet {
  std::map<std::string, BusinessLine> lines;
  Duration max_age{};
  Duration payment_max_delay{600'000};  // what an attempt in progress may delay a close
};

// What rules would do at once: orders that they make due now and the rules in force do not.
struct DueByRules {
  std::map<std::string, std::int64_t> orders;  // by the line whose rule it is; lines of 0 left out
  std::int64_t total = 0;
  bool counted = true;  // false: there are so many orders that the statement's time did not do
};

// What rests: "all", "line:NAME" or "event:NAME".
struct Pause {
  std::string scope, by, reason;
  std::optional<Instant> until;  // nothing: until somebody resumes it

  friend bool operator==(const Pause&, const Pause&) = default;
};

struct ClockSample {
  Instant database_now{};
};

enum class SweepKind : std::uint8_t { nightly, catch_up, startup };

struct SweepReport {
  std::int64_t run_id = 0;
  std::string status;  // SUCCESS | FAILED | INTERRUPTED
  std::int64_t scanned = 0, closed = 0, skipped = 0, failed = 0;
  std::string detail_json;
};

struct OrderOverview {
  std::int64_t pending = 0, held = 0, quarantined = 0, too_old = 0;
  // Past deadline and grace and not closed, for whatever reason but max_age.
  std::int64_t overdue = 0;
  double oldest_overdue_seconds = 0;
  std::int64_t not_listed = 0;  // no rule says anything about their business line
};

// Is the database the one that our objects were made for?
struct MappingState {
  bool fits = false;
  std::string detail;  // what differs and the command that mends it
};

// One order closed by an operator, with the daemon up or down; order_id 0 stands for a run that
// closed none.
struct ManualClose {
  std::int64_t run_id = 0;
  OrderId order_id = 0;
  std::string order_no, business_line;
  std::string by, reason, host;
  Instant at{};
};

// The daemon's own tables: rules in force, sweeps, clock.
class ControlStore {
 public:
  virtual ~ControlStore() = default;
  virtual Awaitable<MappingState> mapping_state() = 0;
  // What of the order table's mapping the catalogue contradicts, column by column; empty: nothing.
  virtual Awaitable<std::vector<std::string>> mapping_problems() = 0;
  virtual Awaitable<std::int64_t> rules_revision() = 0;            // in force; 0: none
  virtual Awaitable<std::int64_t> apply_rules(RuleSet rules) = 0;  // the revision now in force
  virtual Awaitable<DueByRules> due_by_rules(RuleSet rules) = 0;   // changes nothing
  virtual Awaitable<std::vector<Pause>> pauses() = 0;              // in force now, by scope
  // A pause of this scope that is there already stays as it is.
  virtual Awaitable<Done> pause(Pause pause) = 0;
  // Pending orders by business lines that no rule lists: in quotes, or NULL. At most 50.
  virtual Awaitable<std::map<std::string, std::int64_t>> unlisted_lines() = 0;
  virtual Awaitable<ClockSample> sample_clock() = 0;
  virtual Awaitable<std::int64_t> begin_sweep(SweepKind kind) = 0;
  virtual Awaitable<Done> finish_sweep(SweepReport report) = 0;
  // The instant the last successful nightly sweep began, nothing where there was none.
  virtual Awaitable<std::optional<Instant>> last_nightly() = 0;
  virtual Awaitable<OrderOverview> overview() = 0;
  // Closes by hand that the audit log does not have yet, a few runs at a time; and the note that it
  // has them now.
  virtual Awaitable<std::vector<ManualClose>> manual_closes() = 0;
  virtual Awaitable<Done> manual_closes_audited(std::vector<std::int64_t> run_ids) = 0;
};

// Something that happened to an order beside closing, written where it happened, told once.
struct Notice {
  std::int64_t id = 0;
  OrderId order_id = 0;
  std::string order_no, business_line;
  std::string kind;  // extended, held, unheld, refund, unknown_payment, ... (sql/migrations/0005)
  std::string by, reason, host;
  std::string detail_json;  // one object of plain values
  Instant at{};
  std::optional<TrackedOrder> waits;  // where it is pending and may be closed some day
};

// A round over the orders that were closed: first by their events, then those remembered beyond.
struct WatchPosition {
  bool among_events = true;
  std::int64_t event_id = 0;  // the last one looked at
  std::string closed_at;      // PostgreSQL's text; empty: from the beginning
  OrderId order_id = 0;
};

struct WatchedPage {
  std::optional<WatchPosition> next;  // nothing: that was all
  std::int64_t looked_at = 0;
  std::int64_t touched = 0;  // orders with something to tell
};

// An order whose payment the gateway is asked about before it is closed.
struct CheckedOrder {
  OrderId id = 0;
  std::string order_no, business_line;
  Instant due{};
};

// Payments that come too late, and what was done to orders by others than the closers.
class PaymentStore {
 public:
  virtual ~PaymentStore() = default;
  // At most so many that nobody has told yet, oldest first; and the note that they are told.
  virtual Awaitable<std::vector<Notice>> notices(int limit) = 0;
  virtual Awaitable<Done> notices_told(std::vector<std::int64_t> ids) = 0;
  // Looks after closed orders from a position on, at most `limit`.
  virtual Awaitable<WatchedPage> watch(WatchPosition from, int limit) = 0;
  // Those of these orders that are about to be closed on one of these business lines.
  virtual Awaitable<std::vector<CheckedOrder>> orders_to_check(std::vector<OrderId> ids,
                                                               std::vector<std::string> lines) = 0;
  // Holds an order on the gateway's word: `held`, `already_held`, or why there is nothing to hold.
  virtual Awaitable<std::string> hold_for_payment(OrderId id, std::string reason) = 0;
  // A position behind which lie the newest `events` closes.
  virtual Awaitable<WatchPosition> newest(std::int64_t events) = 0;
};

struct Reminder {
  std::string member;
  double score = 0;  // as Redis gave it, in the configured unit
};

struct ReminderPage {
  std::vector<Reminder> reminders;
  std::uint64_t cursor = 0;  // scan: 0 means the end
};

// The ZSET. It connects by itself when asked and not connected; while it is down every call fails
// at once with `unavailable` and a connection is tried with backoff.
class ReminderSet {
 public:
  virtual ~ReminderSet() = default;
  // At most `limit` members with a score in [from, to] in score order, `skip` of them passed over.
  virtual Awaitable<ReminderPage> due(double from, double to, int skip, int limit) = 0;
  // One step through the whole set, due or not (ZSCAN).
  virtual Awaitable<ReminderPage> scan(std::uint64_t cursor) = 0;
  // Scores now; a member that is not there is left out.
  virtual Awaitable<std::map<std::string, double>> scores(std::vector<std::string> members) = 0;
  // Removes members whose score is still the given one. How many.
  virtual Awaitable<std::int64_t> remove_unchanged(std::vector<Reminder> reminders) = 0;
  // The server's clock in milliseconds since the epoch.
  virtual Awaitable<std::int64_t> server_time() = 0;
};

// Where an event goes. One call under its own deadlines.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual asio::awaitable<DeliveryOutcome> deliver(OutboxEvent event) = 0;
};

}  // namespace order_timeout
