// The measurements of the contenders: schedule, move, cancel, then every tick to the end.
#include <memory>
#include <stdexcept>

#include "contenders.hpp"
#include "measures.hpp"
#include "stopwatch.hpp"

namespace bench {
namespace {

constexpr Ms kDay = 24 * 60 * kMinute;

// Runs f and gives its CPU time in ns for each of `count`.
template <class F>
double ns_each(std::uint64_t count, F&& f) {
  const double before = cpu_ns();
  f();
  return (cpu_ns() - before) / static_cast<double>(count);
}

// What must have fired, and did.
struct Tally {
  std::uint64_t count = 0;
  std::uint64_t ids = 0;
  bool on_time = true;
};

template <class Timers>
class Run {
 public:
  explicit Run(const Workload& work) : work_(work) {}

  Figures measure() {
    const double before = resident_bytes();
    timers_ = std::make_unique<Timers>(work_.orders());
    const auto n = static_cast<double>(work_.orders());
    figures_["schedule"] = ns_each(work_.orders(), [&] { fill(); });
    figures_["bytes"] = (resident_bytes() - before) / n;
    figures_["move"] = ns_each(work_.moves(), [&] {
      for (std::uint64_t k = 0; k < work_.moves(); ++k)
        timers_->move(work_.id(work_.moved(k)), work_.moved_due(k));
    });
    figures_["cancel"] = ns_each(work_.cancels(), [&] {
      for (std::uint64_t k = 0; k < work_.cancels(); ++k)
        timers_->cancel(work_.id(work_.shuffled(k)));
    });
    figures_["expire"] = ns_each(work_.orders() - work_.cancels(), [&] { expire(); });
    figures_["longest"] = calls_.longest_ns();
    figures_["p9999"] = calls_.wall_ns(0.9999);
    figures_["wall_max"] = calls_.wall_ns(1);
    check();
    return figures_;
  }

 private:
  void fill() {
    for (std::uint64_t i = 0; i < work_.orders(); ++i) {
      for (; now_ < work_.arrival(i); ++now_) tick(now_ + 1);
      timers_->schedule(work_.id(i), work_.due(i));
    }
  }

  void tick(Ms now) {
    timers_->advance(now, [&](Id id, Ms due) {
      tally_.count += 1;
      tally_.ids ^= static_cast<std::uint64_t>(id);
      tally_.on_time = tally_.on_time && due == now;
    });
  }

  void expire() {
    calls_.begin();
    while (now_ < work_.end()) {
      tick(++now_);
      calls_.end();
    }
  }

  void check() const {
    std::uint64_t ids = 0;
    for (std::uint64_t i = 0; i < work_.orders(); ++i)
      ids ^= static_cast<std::uint64_t>(work_.id(i));
    for (std::uint64_t k = 0; k < work_.cancels(); ++k)
      ids ^= static_cast<std::uint64_t>(work_.id(work_.shuffled(k)));
    const bool right = tally_.count == work_.orders() - work_.cancels() && tally_.ids == ids;
    if (!right) throw std::runtime_error("not all orders fired");
    if (!tally_.on_time) throw std::runtime_error("an order was early or late");
  }

  Workload work_;
  std::unique_ptr<Timers> timers_;
  Ms now_ = 0;
  Tally tally_;
  Calls calls_;
  Figures figures_;
};

template <class Timers>
Figures measure_empty() {
  Timers timers(1'000);
  constexpr Ms kTicks = 10'000'000;
  const auto nothing = [](Id, Ms) {};
  Figures figures;
  figures["tick"] = ns_each(kTicks, [&] {
    for (Ms now = 1; now <= kTicks; ++now) timers.advance(now, nothing);
  });
  figures["jump"] = ns_each(1, [&] { timers.advance(kTicks + kDay, nothing); });
  return figures;
}

// Steady state under hard churn: of every four operations one cancels an order, one takes a new one
// in, and two move one to any time, earlier or later. A tick passes with every 56 operations; an
// order that falls due is scheduled again.
class Soak {
 public:
  Soak(std::uint64_t orders, std::uint64_t operations)
      : work_('U', orders), operations_(operations), next_(orders), ids_(orders) {
    for (std::uint64_t i = 0; i < orders; ++i) ids_[i] = work_.id(i);
  }

  Figures measure() {
    const auto n = static_cast<double>(work_.orders());
    const double before = resident_bytes();
    timers_ = std::make_unique<OurWheel>(work_.orders());
    for (std::uint64_t i = 0; i < ids_.size(); ++i) timers_->schedule(ids_[i], work_.due(i));
    Figures figures;
    figures["bytes_fresh"] = (resident_bytes() - before) / n;
    calls_.begin();
    figures["operation"] = ns_each(operations_, [&] { churn(); });
    figures["bytes"] = (resident_bytes() - before) / n;
    figures["stale"] = static_cast<double>(stale_most_) / n;
    figures["longest"] = calls_.longest_ns();
    figures["p9999"] = calls_.wall_ns(0.9999);
    if (timers_->wheel().size() != work_.orders()) throw std::runtime_error("orders were lost");
    return figures;
  }

 private:
  void churn() {
    for (std::uint64_t k = 0; k < operations_; k += 4) {
      Id& replaced = any(k);
      timers_->cancel(replaced);
      replaced = work_.id(next_++);
      timers_->schedule(replaced, any_due(k));
      timers_->move(any(k + 1), any_due(k + 1));
      timers_->move(any(k + 2), any_due(k + 2));
      calls_.end();
      if (k % 56 == 0) tick();
      stale_most_ = std::max(stale_most_, timers_->wheel().stale_entries());
    }
  }

  void tick() {
    due_.clear();
    timers_->advance(++now_, [&](Id id, Ms) { due_.push_back(id); });
    calls_.end();
    for (const Id id : due_) timers_->schedule(id, any_due(static_cast<std::uint64_t>(id)));
    calls_.begin();
  }

  Id& any(std::uint64_t k) { return ids_[mix(k) % ids_.size()]; }
  Ms any_due(std::uint64_t k) const { return now_ + 1 + mix(k ^ now_) % (30 * kMinute); }

  Workload work_;
  std::uint64_t operations_;
  std::uint64_t next_;
  std::vector<Id> ids_;
  std::unique_ptr<OurWheel> timers_;
  Ms now_ = 0;
  std::vector<Id> due_;
  std::size_t stale_most_ = 0;
  Calls calls_;
};

}  // namespace

Figures measure(const std::string& contender, char shape, std::uint64_t orders) {
  const Workload work(shape, orders);
  if (contender == "wheel") return Run<OurWheel>(work).measure();
  if (contender == "wheel_in_batches") return Run<OurWheelInBatches>(work).measure();
  if (contender == "linked_wheel") return Run<LinkedWheel>(work).measure();
  if (contender == "multimap") return Run<Multimap>(work).measure();
  if (contender == "heap") return Run<Heap>(work).measure();
  if (contender == "asio") return Run<AsioTimers>(work).measure();
  if (contender == "empty") return measure_empty<OurWheel>();
  if (contender == "empty_linked") return measure_empty<LinkedWheel>();
  if (contender == "soak") return Soak(orders, orders * (orders > 10'000'000 ? 1 : 10)).measure();
  if (contender == "bounds") return measure_bounds(orders);
  throw std::runtime_error("no such contender: " + contender);
}

}  // namespace bench
