#include "postgres/bulkhead.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>

#include "postgres/conninfo.hpp"

namespace order_timeout::postgres {
namespace {

using namespace std::chrono_literals;

constexpr Duration kAfterCut =
    500ms;  // a thread that was cut and does not come back by then is not waited for
constexpr Duration kServerFirst = 1500ms;
constexpr Duration kAfterStop = 1s;  // likewise, for all of them at the end

std::size_t index_of(Use use) { return static_cast<std::size_t>(use); }

Failure shutting_down() { return Failure{FailureKind::unavailable, "shutting down", ""}; }

Failure overloaded(const char* why) { return Failure{FailureKind::overloaded, why, ""}; }

}  // namespace

Bulkhead::Bulkhead(asio::any_io_executor loop, const DatabaseConfig& database)
    : loop_(std::move(loop)), database_(database), look_timer_(loop_), quiet_(loop_) {
  const auto conninfo = complete_conninfo(database.url, database.connect_timeout);
  if (!conninfo) {
    unusable_ = conninfo.error();
    return;
  }
  WorkerOptions options;
  options.connection.conninfo = *conninfo;
  options.connection.statement_timeout = database.statement_timeout;
  options.max_lifetime = database.max_lifetime;
  const std::weak_ptr<const bool> alive = alive_;
  members_.resize(static_cast<std::size_t>(std::max(1, database.connections)));
  for (std::size_t index = 0; index < members_.size(); ++index) {
    auto report = [this, alive, index, loop = loop_](Report done) {
      asio::post(loop, [this, alive, index, done = std::move(done)]() mutable {
        if (!alive.expired()) take_back(index, std::move(done));
      });
    };
    members_[index].worker = std::make_unique<Worker>(options, std::move(report));
  }
}

Bulkhead::~Bulkhead() {
  stopping_ = true;
  alive_.reset();
  refuse_waiting();
  for (Member& member : members_) {
    member.worker->retire();
    member.worker->cut();
    if (member.call != nullptr) member.call->fail(shutting_down());
  }
}

void Bulkhead::refuse_waiting() {
  for (auto& queue : waiting_) {
    const auto refused = std::exchange(queue, {});
    for (const Waiting& waiting : refused) waiting.call->fail(shutting_down());
  }
}

void Bulkhead::submit(SharedCall call, std::unique_ptr<Task> task) {
  if (unusable_) return call->fail(*unusable_);
  if (stopping_) return call->fail(shutting_down());
  auto& queue = waiting_[index_of(call->use)];
  if (queue.size() >= kWaitingMax) return call->fail(overloaded("too many calls wait"));
  arm(call, database_.acquire_timeout);
  queue.push_back(Waiting{std::move(call), std::move(task)});
  dispatch();
}

void Bulkhead::start(Member& member, SharedCall call, std::unique_ptr<Task> task) {
  call->stage = Call::Stage::running;
  arm(call, member.open ? call->deadline : call->deadline + database_.connect_timeout);
  member.call = std::move(call);
  member.worker->give(std::move(task));
}

// A free connection that this use may take, its own before a shared one, an open one before one
// still to be opened.
Bulkhead::Member* Bulkhead::member_for(Use use) {
  std::vector<Member*> working;
  for (Member& member : members_) {
    if (!member.parked) working.push_back(&member);
  }
  const auto is_reserved = [&](std::size_t place) {
    return place < std::min<std::size_t>(2, working.size());
  };
  const auto may_take = [&](std::size_t place) {
    const bool alone = working.size() == 1 && (use != Use::sink || members_.size() < 3);
    const bool cramped = use == Use::sink && members_.size() < 3;
    return alone || cramped || !is_reserved(place) || place == index_of(use);
  };
  Member* found = nullptr;
  for (std::size_t place = 0; place < working.size(); ++place) {
    Member* member = working[place];
    if (member->call != nullptr || !may_take(place)) continue;
    if (is_reserved(place)) return member;
    if (found == nullptr || (member->open && !found->open)) found = member;
  }
  return found;
}

// One call of each use in turn, so that no use starves another of the shared connections.
void Bulkhead::dispatch() {
  if (look_due_) look_for_lost();
  for (std::size_t idle_turns = 0; idle_turns < waiting_.size(); ++turn_) {
    const auto use = static_cast<Use>(turn_ % waiting_.size());
    idle_turns = dispatch_one(use) ? 0 : idle_turns + 1;
  }
}

bool Bulkhead::dispatch_one(Use use) {
  auto& queue = waiting_[index_of(use)];
  while (!queue.empty() && queue.front().call->answered()) queue.pop_front();
  if (queue.empty()) return false;
  Member* member = member_for(use);
  if (member == nullptr) return false;
  Waiting first = std::move(queue.front());
  queue.pop_front();
  start(*member, std::move(first.call), std::move(first.task));
  return true;
}

void Bulkhead::take_back(std::size_t index, Report report) {
  Member& member = members_[index];
  const SharedCall call = std::exchange(member.call, nullptr);
  member.open = report.open;
  if (report.reopened) ++reconnects_;
  if (report.lost) {
    count_as_lost(*report.lost);
    member.parked = true;
  }
  park_for_lost();
  if (call != nullptr) report.task->deliver(*call);
  if (busy() == 0) quiet_.cancel();
  dispatch();
}

void Bulkhead::arm(const SharedCall& call, Duration wait) {
  call->timer.expires_after(wait);
  const std::weak_ptr<const bool> alive = alive_;
  call->timer.async_wait([this, alive, call](boost::system::error_code error) {
    // A wait that was overtaken: answered, or armed anew while this was on its way.
    if (error || alive.expired() || call->answered()) return;
    if (call->timer.expiry() > asio::steady_timer::clock_type::now()) return;
    time_passed(call);
  });
}

void Bulkhead::time_passed(const SharedCall& call) {
  switch (call->stage) {
    case Call::Stage::queued:
      return give_up_waiting(call);
    case Call::Stage::running:
      return cut(call);
    case Call::Stage::cut:
      return call->fail(Failure{FailureKind::unknown, "the connection could not be cut", ""});
  }
}

void Bulkhead::give_up_waiting(const SharedCall& call) {
  auto& queue = waiting_[index_of(call->use)];
  std::erase_if(queue, [&](const Waiting& waiting) { return waiting.call == call; });
  call->fail(overloaded("no connection was free within database.acquire_timeout"));
}

void Bulkhead::cut(const SharedCall& call) {
  const auto member = std::ranges::find(members_, call, &Member::call);
  if (member == members_.end()) return;
  call->stage = Call::Stage::cut;
  if (member->worker->cut() == Cut::connecting) {
    return call->fail(Failure{FailureKind::timed_out, "PostgreSQL took no connection in time", ""});
  }
  arm(call, kAfterCut);
}

int Bulkhead::busy() const {
  return static_cast<int>(
      std::ranges::count_if(members_, [](const Member& member) { return member.call != nullptr; }));
}

BulkheadCounters Bulkhead::counters() const {
  BulkheadCounters counters;
  counters.open = static_cast<int>(std::ranges::count_if(members_, &Member::open));
  counters.busy = busy();
  for (const auto& queue : waiting_) counters.queued += static_cast<int>(queue.size());
  counters.lost = static_cast<int>(lost_.size());
  counters.reconnects = reconnects_;
  return counters;
}

Duration Bulkhead::deadline_for(int statements) const {
  return database_.statement_timeout * statements + kServerFirst;
}

asio::awaitable<void> Bulkhead::stop(Duration deadline) {
  stopping_ = true;
  look_timer_.cancel();
  refuse_waiting();
  boost::system::error_code woken;
  quiet_.expires_after(deadline);
  if (busy() > 0) co_await quiet_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  for (Member& member : members_) {
    if (member.call != nullptr) member.worker->cut();
  }
  quiet_.expires_after(kAfterStop);
  if (busy() > 0) co_await quiet_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  for (Member& member : members_) member.worker->retire();
}

}  // namespace order_timeout::postgres
