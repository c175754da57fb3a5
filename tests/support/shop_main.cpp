// shop: the sample shop of the quick start. Places orders, pays most of them, and holds its own
// books against the database at the end. Exit code 1: they do not balance.
#include <pthread.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/shop_floor.hpp"
#include "support/shop_report.hpp"

namespace {

using order_timeout::Duration;
using order_timeout::shop::Floor;
using Clock = std::chrono::steady_clock;

constexpr Duration kDrainMost{10'000};
constexpr Duration kDrainLook{100};
constexpr int kBadUsage = 64;

struct Arguments {
  Floor::Options floor;
  std::optional<double> seconds;
};

// The signals that end the day, blocked so that they are waited for and never interrupt.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    signal(number, SIG_DFL);  // a background child of a script inherits SIGINT as ignored
    sigaddset(&signals, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// Waits until `until`; true: a signal came first.
bool signalled_before(const sigset_t& signals, Clock::time_point until) {
  while (true) {
    const auto left = until - Clock::now();
    if (left <= Clock::duration::zero()) return false;
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec patience{.tv_sec = whole.count(), .tv_nsec = (left - whole).count()};
    if (sigtimedwait(&signals, nullptr, &patience) > 0) return true;
  }
}

Duration since(Clock::time_point start) {
  return std::chrono::duration_cast<Duration>(Clock::now() - start);
}

void show(Floor& floor, Clock::time_point start) {
  std::printf("%s\n", floor.progress(since(start)).c_str());
  std::fflush(stdout);
}

// Takes orders until the time is up, a signal comes or the shop cannot go on.
void keep_open(Floor& floor, const sigset_t& signals, const std::optional<double>& seconds,
               Clock::time_point start) {
  const auto whole = seconds ? static_cast<int>(std::ceil(*seconds)) : 0;
  for (int second = 1; !seconds || second <= whole; ++second) {
    auto until = start + std::chrono::seconds{second};
    if (seconds && second == whole) {
      until = start +
              std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>{*seconds});
    }
    const bool stopped = signalled_before(signals, until);
    floor.look();
    show(floor, start);
    if (stopped || floor.failure()) return;
  }
}

// Waits for the last orders; false: a second signal, the shop is to end at once.
bool drain(Floor& floor, const sigset_t& signals, Clock::time_point start) {
  const auto begun = Clock::now();
  std::printf("      no more orders; waiting for the last ones to be paid or closed\n");
  for (int looks = 1; !floor.settled() && since(begun) < kDrainMost && !floor.failure(); ++looks) {
    if (signalled_before(signals, begun + looks * kDrainLook)) return false;
    floor.look();
    if (looks % 10 == 0) show(floor, start);
  }
  return true;
}

int run(const Arguments& arguments, const sigset_t& signals) {
  Floor floor{arguments.floor};
  const auto start = Clock::now();
  floor.open();
  keep_open(floor, signals, arguments.seconds, start);
  floor.stop_orders();
  const auto open = since(start);
  const bool drained = drain(floor, signals, start);
  floor.close();
  if (const auto failure = floor.failure()) {
    std::fprintf(stderr, "shop: %s\n", failure->c_str());
    return 1;
  }
  if (!drained) {
    std::printf("shop: stopped at once, the books were not closed\n");
    return 1;
  }
  const auto differences = floor.differences();
  std::printf("%s%s",
              order_timeout::shop::summary(open, since(start) - open, floor.ledger()).c_str(),
              order_timeout::shop::verdict(differences).c_str());
  return differences.empty() ? 0 : 1;
}

// "flash_sale=3": a business line and its timeout in seconds.
order_timeout::shop::Line line_of(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) throw std::invalid_argument{"--timeout takes LINE=SECONDS"};
  const double seconds = std::stod(text.substr(equals + 1));
  return {.name = text.substr(0, equals), .timeout = Duration{std::lround(seconds * 1000)}};
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  std::vector<std::string> lines{"flash_sale=3", "normal=5", "presale=7"};
  double grace = 1;
  CLI::App app{"The sample shop: places orders, pays most of them, and checks its books"};
  app.add_option("--database", arguments.floor.database, "libpq URL of the shop's database")
      ->required();
  app.add_option("--redis", arguments.floor.redis,
                 "redis://HOST:PORT or unix:///PATH; none: no Redis");
  app.add_option("--zset", arguments.floor.zset, "sorted set of the reminders")
      ->default_val("delay:close:order");
  app.add_option("--seconds", arguments.seconds, "take orders for so long; none: until SIGINT")
      ->check(CLI::PositiveNumber);
  app.add_option("--rate", arguments.floor.orders_per_second, "orders a second")
      ->check(CLI::Range(0.1, 1000.0));
  app.add_option("--timeout", lines, "LINE=SECONDS, as configured");
  app.add_option("--grace", grace, "grace in seconds, as configured")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", arguments.floor.seed, "seed of the customers");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadUsage;
  }
  arguments.floor.grace = Duration{std::lround(grace * 1000)};
  const auto signals = block_signals();
  try {
    for (const auto& line : lines) arguments.floor.lines.push_back(line_of(line));
    return run(arguments, signals);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shop: %s\n", error.what());
    return 1;
  }
}
