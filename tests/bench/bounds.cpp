// What the machine allows: memory in sequence and at random, and the bare hash map from ids.
#include <absl/container/flat_hash_map.h>

#include <numeric>
#include <vector>

#include "measures.hpp"
#include "stopwatch.hpp"
#include "workload.hpp"

namespace bench {
namespace {

struct Entry {  // as large as the orders of many a timer
  std::uint64_t next;
  std::uint64_t rest[3];
};

volatile std::uint64_t sink;

template <class F>
double ns_each(std::uint64_t count, F&& f) {
  const double before = cpu_ns();
  f();
  return (cpu_ns() - before) / static_cast<double>(count);
}

void measure_memory(const Workload& work, Figures& figures) {
  const std::uint64_t n = work.orders();
  std::vector<Entry> entries(n);
  figures["write_in_sequence"] = ns_each(n, [&] {
    for (std::uint64_t i = 0; i < n; ++i) entries[i] = {i, {i, i, i}};
  });
  figures["read_in_sequence"] = ns_each(n, [&] {
    std::uint64_t sum = 0;
    for (const Entry& entry : entries) sum += entry.rest[0];
    sink = sum;
  });
  const std::uint64_t some = std::min<std::uint64_t>(n, 10'000'000);
  figures["read_at_random"] = ns_each(some, [&] {
    std::uint64_t sum = 0;
    for (std::uint64_t k = 0; k < some; ++k) sum += entries[mix(k) % n].rest[0];
    sink = sum;
  });
  // Each read waits for the one before: the steps of a linked list. One cycle through all entries.
  for (std::uint64_t k = 0; k < n; ++k) {
    entries[work.shuffled(k)].next = work.shuffled(k + 1 == n ? 0 : k + 1);
  }
  const std::uint64_t steps = std::min<std::uint64_t>(n, 2'000'000);
  figures["chase"] = ns_each(steps, [&] {
    std::uint64_t at = 0;
    for (std::uint64_t k = 0; k < steps; ++k) at = entries[at].next;
    sink = at;
  });
}

void measure_map(const Workload& work, Figures& figures) {
  const std::uint64_t n = work.orders();
  absl::flat_hash_map<Id, void*> map;
  map.reserve(n);
  figures["absl_insert"] = ns_each(n, [&] {
    for (std::uint64_t i = 0; i < n; ++i) map.emplace(work.id(i), &map);
  });
  figures["absl_find"] = ns_each(work.moves(), [&] {
    std::uint64_t found = 0;
    for (std::uint64_t k = 0; k < work.moves(); ++k) found += map.count(work.id(work.moved(k)));
    sink = found;
  });
  figures["absl_erase"] = ns_each(work.cancels(), [&] {
    for (std::uint64_t k = 0; k < work.cancels(); ++k) map.erase(work.id(work.shuffled(k)));
  });
}

}  // namespace

Figures measure_bounds(std::uint64_t entries) {
  const Workload work('U', entries);
  Figures figures;
  measure_memory(work, figures);
  measure_map(work, figures);
  return figures;
}

}  // namespace bench
