// The timing wheel beside what else could be used, and beside what the machine allows; every
// measurement is a process of its own.
//   wheel_bench [--max-orders N]                  the table, up to 10 million orders by default
//   wheel_bench --only CONTENDER SHAPE ORDERS     one measurement, as lines of "name value"
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "measures.hpp"

namespace {

int usage() {
  std::fputs("usage: wheel_bench [--max-orders N] | --only CONTENDER U|O ORDERS\n", stderr);
  return 64;
}

int run(int argc, char** argv) {
  const std::string option = argc > 1 ? argv[1] : "--max-orders";
  if (option == "--only" && argc == 5) {
    const auto orders = std::strtoull(argv[4], nullptr, 10);
    for (const auto& [name, value] : bench::measure(argv[2], argv[3][0], orders)) {
      std::printf("%s %.3f\n", name.c_str(), value);
    }
    return 0;
  }
  if (option != "--max-orders" || argc == 2 || argc > 3) return usage();
  bench::print_table(argv[0], argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 10'000'000);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wheel_bench: %s\n", error.what());
    return 1;
  }
}
