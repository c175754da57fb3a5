// Runs the measurements one after the other and prints them, each size with its ratios.
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "measures.hpp"

namespace bench {
namespace {

// A contender, and up to which size it is patient enough to be measured.
struct Contender {
  const char* name;
  std::uint64_t orders_max;
};

constexpr Contender kContenders[]{{"wheel", 1'000'000'000},
                                  {"wheel_in_batches", 10'000'000},
                                  {"linked_wheel", 1'000'000'000},
                                  {"multimap", 10'000'000},
                                  {"heap", 10'000'000},
                                  {"asio", 1'000'000}};
constexpr std::uint64_t kSizes[]{1'000, 100'000, 1'000'000, 10'000'000, 100'000'000};

// In a process of its own.
Figures figures_of(const std::string& program, const std::string& contender, char shape,
                   std::uint64_t orders) {
  const std::string command =
      program + " --only " + contender + " " + shape + " " + std::to_string(orders);
  std::FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) throw std::runtime_error("cannot run " + command);
  Figures figures;
  char name[64];
  double value = 0;
  while (std::fscanf(output, "%63s %lf", name, &value) == 2) figures[name] = value;
  if (pclose(output) != 0) throw std::runtime_error("failed: " + command);
  return figures;
}

std::string duration(double ns) {
  char text[32];
  if (ns < 1'000) {
    std::snprintf(text, sizeof(text), "%.0f ns", ns);
  } else if (ns < 1e6) {
    std::snprintf(text, sizeof(text), "%.0f us", ns / 1e3);
  } else {
    std::snprintf(text, sizeof(text), "%.1f ms", ns / 1e6);
  }
  return text;
}

void print_row(const std::string& name, Figures f) {
  std::printf("| %-16s | %8.0f | %8.0f | %8.0f | %8.0f | %6.1f | %9s | %9s |\n", name.c_str(),
              f["schedule"], f["move"], f["cancel"], f["expire"], f["bytes"],
              duration(f["longest"]).c_str(), duration(f["p9999"]).c_str());
  std::fflush(stdout);
}

void print_ratio(Figures wheel, Figures linked) {
  std::printf("| %-16s |", "wheel / linked");
  for (const char* name : {"schedule", "move", "cancel", "expire"})
    std::printf(" %8.2f |", wheel[name] / linked[name]);
  std::printf(" %6.2f | %9.4f | %9.4f |\n\n", wheel["bytes"] / linked["bytes"],
              wheel["longest"] / linked["longest"], wheel["p9999"] / linked["p9999"]);
}

void print_shape(const std::string& program, char shape, std::uint64_t orders) {
  std::printf("%llu orders, shape %c (ns an order; bytes an order; single calls of 1 ms)\n",
              static_cast<unsigned long long>(orders), shape);
  std::printf("| %-16s | %8s | %8s | %8s | %8s | %6s | %9s | %9s |\n", "", "schedule", "move",
              "cancel", "expire", "bytes", "longest", "p99.99");
  std::printf("|---|--:|--:|--:|--:|--:|--:|--:|\n");
  Figures wheel;
  Figures linked;
  for (const auto& [name, orders_max] : kContenders) {
    if (orders > orders_max) continue;
    const Figures figures = figures_of(program, name, shape, orders);
    if (name == std::string("wheel")) wheel = figures;
    if (name == std::string("linked_wheel")) linked = figures;
    print_row(name, figures);
  }
  print_ratio(wheel, linked);
}

void print_bounds(const std::string& program, std::uint64_t orders) {
  Figures f = figures_of(program, "bounds", 'U', orders);
  std::printf(
      "bounds at %llu (ns): memory written in sequence %.1f, read %.1f, read at random %.1f, "
      "chased %.0f; absl::flat_hash_map insert %.0f, find %.0f, erase %.0f\n",
      static_cast<unsigned long long>(orders), f["write_in_sequence"], f["read_in_sequence"],
      f["read_at_random"], f["chase"], f["absl_insert"], f["absl_find"], f["absl_erase"]);
  Figures soak = figures_of(program, "soak", 'U', orders);
  std::printf(
      "churn at %llu: %.0f ns an operation, stale entries at most %.2f of the orders, %.1f "
      "bytes an order (fresh %.1f), longest call %s, p99.99 %s\n\n",
      static_cast<unsigned long long>(orders), soak["operation"], soak["stale"], soak["bytes"],
      soak["bytes_fresh"], duration(soak["longest"]).c_str(), duration(soak["p9999"]).c_str());
}

}  // namespace

void print_table(const std::string& program, std::uint64_t orders_max) {
  for (const std::uint64_t orders : kSizes) {
    if (orders > orders_max) break;
    for (const char shape : {'U', 'O'}) print_shape(program, shape, orders);
    if (orders >= 1'000'000) print_bounds(program, orders);
  }
  Figures ours = figures_of(program, "empty", 'U', 0);
  Figures linked = figures_of(program, "empty_linked", 'U', 0);
  std::printf("empty: a tick %.1f ns (linked %.1f), a jump of 24 h %s (linked %s)\n", ours["tick"],
              linked["tick"], duration(ours["jump"]).c_str(), duration(linked["jump"]).c_str());
}

}  // namespace bench
