// The wheel against the obvious: std::multimap by due instant and std::unordered_map by order id,
// in one run, so that what counts is the ratio, printed at the end. A million orders by default,
// due over half an hour; every operation goes by order id. Usage: wheel_bench [--benchmark_...]
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "order_timeout/wheel.hpp"

namespace order_timeout {
namespace {

constexpr std::int64_t kOrders = 1'000'000;
constexpr Instant kStart = instant_from_ms(1'796'000'000'123);
constexpr std::int64_t kSpan = 1'800'000;

class SortedMaps {
 public:
  explicit SortedMaps(Instant) {}

  void schedule(const TrackedOrder& order) {
    cancel(order.id);
    places_.emplace(order.id, orders_.emplace(order.due, order));
  }

  bool cancel(OrderId id) {
    const auto found = places_.find(id);
    if (found == places_.end()) return false;
    orders_.erase(found->second);
    places_.erase(found);
    return true;
  }

  std::vector<TrackedOrder> advance(Instant now, std::size_t max) {
    std::vector<TrackedOrder> due;
    while (due.size() < max && !orders_.empty() && orders_.begin()->first <= now) {
      due.push_back(orders_.begin()->second);
      places_.erase(due.back().id);
      orders_.erase(orders_.begin());
    }
    return due;
  }

 private:
  std::multimap<Instant, TrackedOrder> orders_;
  std::unordered_map<OrderId, std::multimap<Instant, TrackedOrder>::iterator> places_;
};

// The same orders for both, with ids and due instants in no order.
const std::vector<TrackedOrder>& orders() {
  static const std::vector<TrackedOrder> made = [] {
    std::mt19937_64 random{1};
    std::uniform_int_distribution<std::int64_t> wait{1, kSpan};
    std::vector<TrackedOrder> all;
    for (std::int64_t i = 0; i < kOrders; ++i) {
      const auto id = static_cast<OrderId>(random() >> 1);
      all.push_back({.id = id,
                     .due = kStart + Duration{wait(random)},
                     .version = 1,
                     .source = Source::wheel});
    }
    return all;
  }();
  return made;
}

template <class Timers>
void fill(Timers& timers) {
  for (const TrackedOrder& order : orders()) timers.schedule(order);
}

template <class Timers>
void schedule(Timers& timers) {
  fill(timers);
}

template <class Timers>
void reschedule(Timers& timers) {
  for (TrackedOrder order : orders()) {
    order.due += Duration{(order.id % kSpan) - kSpan / 2};
    timers.schedule(order);
  }
}

template <class Timers>
void cancel(Timers& timers) {
  for (auto order = orders().rbegin(); order != orders().rend(); ++order) timers.cancel(order->id);
}

// A millisecond at a time, as the daemon does while orders fall due.
template <class Timers>
void advance(Timers& timers) {
  std::size_t taken = 0;
  for (std::int64_t ms = 1; ms <= kSpan; ++ms) {
    taken += timers.advance(kStart + Duration{ms}, orders().size()).size();
  }
  if (taken != orders().size()) std::abort();
}

// Times one operation on a million orders; what comes before it is not counted.
template <class Timers>
void measure(benchmark::State& state, void (*operation)(Timers&), bool filled) {
  for (auto _ : state) {
    state.PauseTiming();
    auto timers = std::make_unique<Timers>(kStart);
    if (filled) fill(*timers);
    state.ResumeTiming();
    operation(*timers);
    state.PauseTiming();
    timers.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kOrders);
}

// Prints as usual, and keeps the times for the ratios.
class Ratios : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      double& best = ns_[run.run_name.function_name];
      const double ns = run.GetAdjustedCPUTime() / static_cast<double>(kOrders) * 1e6;
      if (best == 0 || ns < best) best = ns;
    }
  }

  void print() const {
    std::printf("\n%-12s %14s %16s %18s\n", "", "wheel ns/order", "maps ns/order", "wheel / maps");
    for (const char* operation : {"schedule", "reschedule", "cancel", "advance"}) {
      const auto wheel = ns_.find(std::string{"wheel/"} + operation);
      const auto maps = ns_.find(std::string{"maps/"} + operation);
      if (wheel == ns_.end() || maps == ns_.end()) continue;
      std::printf("%-12s %14.1f %16.1f %18.2f\n", operation, wheel->second, maps->second,
                  wheel->second / maps->second);
    }
  }

 private:
  std::map<std::string, double> ns_;
};

template <class Timers>
void add(const std::string& name, const char* operation, void (*run)(Timers&), bool filled) {
  benchmark::RegisterBenchmark(
      (name + "/" + operation).c_str(),
      [run, filled](benchmark::State& state) { measure<Timers>(state, run, filled); })
      ->Unit(benchmark::kMillisecond)
      ->Iterations(1)
      ->Repetitions(3);
}

template <class Timers>
void add_all(const std::string& name) {
  add<Timers>(name, "schedule", schedule<Timers>, false);
  add<Timers>(name, "reschedule", reschedule<Timers>, true);
  add<Timers>(name, "cancel", cancel<Timers>, true);
  add<Timers>(name, "advance", advance<Timers>, true);
}

}  // namespace
}  // namespace order_timeout

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  order_timeout::orders();  // made before anything is timed
  order_timeout::add_all<order_timeout::TimingWheel>("wheel");
  order_timeout::add_all<order_timeout::SortedMaps>("maps");
  order_timeout::Ratios ratios;
  benchmark::RunSpecifiedBenchmarks(&ratios);
  ratios.print();
  order_timeout::TimingWheel wheel(order_timeout::kStart);
  order_timeout::fill(wheel);
  std::printf("\nwheel bytes/order %.1f\n",
              static_cast<double>(wheel.memory_bytes()) / static_cast<double>(wheel.size()));
  return 0;
}
