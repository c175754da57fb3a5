// Proves that the wheel behaves like a sorted map, over millions of random operations in shapes
// that are hard on timing wheels: ties, borders of slots and windows, the ends of the clock, jumps
// of years, overdue orders, empty stretches, and calls cut short anywhere by their budget. A
// failure names shape, seed and operation; ORDER_TIMEOUT_MODEL_SEED and
// ORDER_TIMEOUT_MODEL_OPERATIONS (a shape) change the run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "order_timeout/wheel.hpp"

namespace order_timeout {
namespace {

using Random = std::mt19937_64;

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>{least, most}(random);
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// What the wheel promises, in its plainest form: orders sorted by the tick at which each comes out
// at the latest. An order that is overdue when it is scheduled comes out with the earliest that is
// left, so that one answer of several may be right; the model judges the wheel's.
class Model {
 public:
  explicit Model(Instant start) : time_(start) {}

  void schedule(const TrackedOrder& order) {
    cancel(order.id);
    Instant reached = std::min(time_, kNever - Duration{1});
    if (!orders_.empty()) reached = std::min(reached, orders_.begin()->first.first);
    const Key key{order.due == kNever ? kNever : std::max(order.due, reached), ++scheduled_};
    orders_.emplace(key, order);
    keys_.emplace(order.id, key);
  }

  bool cancel(OrderId id) {
    const auto found = keys_.find(id);
    if (found == keys_.end()) return false;
    orders_.erase(found->second);
    keys_.erase(found);
    return true;
  }

  std::optional<TrackedOrder> find(OrderId id) const {
    const auto found = keys_.find(id);
    if (found == keys_.end()) return std::nullopt;
    return orders_.at(found->second);
  }

  void move_time(Instant now) { time_ = std::max(time_, now); }

  // What is wrong with taking this order out next; it is taken out.
  std::string take(const TrackedOrder& order) {
    if (find(order.id) != order) return "it is not held so";
    if (order.due > time_ || order.due == kNever) return "it is early";
    if (orders_.begin()->first.first < order.due) return "an earlier one was left";
    cancel(order.id);
    return {};
  }

  // At the latest; exact where no order was scheduled overdue.
  std::optional<Instant> earliest() const {
    if (orders_.empty() || orders_.begin()->first.first == kNever) return std::nullopt;
    return orders_.begin()->first.first;
  }

  Instant time() const { return time_; }
  std::size_t size() const { return orders_.size(); }

 private:
  using Key = std::pair<Instant, std::uint64_t>;

  Instant time_;
  std::uint64_t scheduled_ = 0;
  std::map<Key, TrackedOrder> orders_;
  std::unordered_map<OrderId, Key> keys_;
};

// What a run looks like: where it starts, which orders there are, when they are due, how time
// moves.
struct Shape {
  std::string name;
  Instant start;
  std::int64_t orders;
  Instant (*due)(Random& random, Instant now);
  Duration (*step)(Random& random);
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

constexpr std::size_t kEverything = 1'000'000'000;
constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kDay = 86'400'000;
constexpr std::int64_t kYear = 365 * kDay;
constexpr Instant kToday = instant_from_ms(1'796'000'000'123);

Duration up_to(Random& random, std::int64_t most) { return Duration{between(random, 0, most)}; }

Instant uniform_half_hour(Random& random, Instant now) {
  return now + Duration{between(random, -10'000, 30 * kMinute)};
}

Instant fixed_timeouts(Random& random, Instant now) {
  constexpr std::int64_t kTimeouts[]{10 * kMinute, 30 * kMinute, 30 * kMinute, 120 * kMinute};
  return now + Duration{kTimeouts[between(random, 0, 3)]};
}

Instant one_tick(Random&, Instant now) { return instant_from_ms((to_ms(now) / 4'096 + 1) * 4'096); }

// On, just before or just behind a border of some level, seen from now or from zero.
Instant border(Random& random, Instant now) {
  const std::int64_t level = std::int64_t{1} << between(random, 0, 44);
  const std::int64_t beside = between(random, -1, 1);
  const bool aligned = between(random, 0, 1) == 1;
  const std::int64_t base = aligned ? to_ms(now) / level * level : to_ms(now);
  return instant_from_ms(base + level + beside);
}

Instant up_to_400_days(Random& random, Instant now) {
  return now + Duration{between(random, -kDay, 400 * kDay)};
}

Instant mostly_overdue(Random& random, Instant now) {
  return now + Duration{between(random, -5'000, 500)};
}

Instant at_the_last_milliseconds(Random& random, Instant) {
  return kNever - Duration{between(random, 0, 3'000)};
}

Instant at_the_first_milliseconds(Random& random, Instant) {
  return kAlways + Duration{between(random, 0, 500'000)};
}

Instant any_instant(Random& random, Instant) {
  return instant_from_ms(static_cast<std::int64_t>(random()));
}

const Shape kShapes[]{
    {"UniformHalfHour", kToday, 20'000, uniform_half_hour, [](Random& r) { return up_to(r, 200); }},
    {"FixedTimeouts", kToday, 20'000, fixed_timeouts, [](Random& r) { return up_to(r, 400); }},
    {"AllInOneTick", kToday, 3'000, one_tick, [](Random& r) { return up_to(r, 30); }},
    {"Borders", instant_from_ms((std::int64_t{1} << 40) - 3), 5'000, border,
     [](Random& r) { return Duration{std::int64_t{1} << between(r, 0, 20)}; }},
    {"BordersBeforeTheEpoch", instant_from_ms(-(std::int64_t{1} << 33)), 5'000, border,
     [](Random& r) { return Duration{std::int64_t{1} << between(r, 0, 20)}; }},
    {"JumpsOfDays", kToday, 10'000, up_to_400_days, [](Random& r) { return up_to(r, 2 * kDay); }},
    {"EmptyStretchesOfYears", kToday, 3, up_to_400_days, [](Random& r) { return up_to(r, kYear); }},
    {"MostlyOverdue", kToday, 10'000, mostly_overdue, [](Random& r) { return up_to(r, 2); }},
    {"LastMilliseconds", kNever - Duration{3'000}, 500, at_the_last_milliseconds,
     [](Random& r) { return Duration{between(r, 0, 999) == 0 ? 20 : 0}; }},
    {"FirstMilliseconds", kAlways, 5'000, at_the_first_milliseconds,
     [](Random& r) { return up_to(r, 20); }},
    {"AnyInstantAtAll", instant_from_ms(0), 20'000, any_instant,
     [](Random& r) { return Duration{std::int64_t{1} << between(r, 0, 47)}; }},
};

class WheelModel : public ::testing::TestWithParam<Shape> {
 protected:
  void schedule() {
    const TrackedOrder order{
        .id = any_id(),
        .due = between(random_, 0, 199) == 0 ? kNever : shape().due(random_, now_),
        .version = static_cast<Version>(between(random_, 0, 9)),
        .source = Source::redis};
    model_.schedule(order);
    wheel_.schedule(order);
  }

  void cancel() {
    const OrderId id = any_id();
    ASSERT_EQ(wheel_.cancel(id), model_.cancel(id));
  }

  void find() {
    const OrderId id = any_id();
    ASSERT_EQ(wheel_.find(id), model_.find(id));
  }

  void advance() {
    constexpr std::size_t kOrders[]{0, 1, 3, 50, kEverything};
    constexpr std::size_t kWork[]{1, 40, 300, kEverything, kEverything};
    const TimingWheel::Budget budget{.orders = kOrders[between(random_, 0, 4)],
                                     .work = kWork[between(random_, 0, 4)]};
    now_ = saturating_add(now_, shape().step(random_));
    const bool stepped_back = between(random_, 0, 49) == 0;
    take(stepped_back ? saturating_add(now_, Duration{-kMinute}) : now_, budget);
  }

  void take(Instant now, TimingWheel::Budget budget) {
    model_.move_time(now);
    const auto due = wheel_.advance(now, budget);
    ASSERT_LE(due.size(), budget.orders);
    ASSERT_LT(due.size(), budget.work + 30);
    for (const TrackedOrder& order : due) ASSERT_EQ(model_.take(order), "") << "order " << order.id;
    const auto next = wheel_.next_due();
    const bool up_to_date = !next || *next > model_.time();
    const bool bounded = budget.orders < kEverything || budget.work < kEverything;
    ASSERT_TRUE(bounded || up_to_date) << "a sleeper would spin";
    ASSERT_TRUE(!up_to_date || !model_.earliest() || *model_.earliest() > model_.time()) << "late";
  }

  // A sleeper that trusts next_due() is never late.
  void ask_when_next() {
    const auto next = wheel_.next_due();
    ASSERT_EQ(next.has_value(), model_.earliest().has_value());
    if (next) {
      ASSERT_LE(*next, *model_.earliest());
    }
  }

  void operate() {
    const std::int64_t dice = between(random_, 0, 99);
    if (dice < 50) return schedule();
    if (dice < 65) return cancel();
    if (dice < 70) return find();
    if (dice < 75) return ask_when_next();
    advance();
  }

  void drain() {
    take(kNever, {.orders = kEverything, .work = kEverything});
    ASSERT_EQ(model_.earliest(), std::nullopt);
    ASSERT_EQ(wheel_.size(), model_.size());
    ASSERT_EQ(wheel_.check_invariants(), "");
  }

  const Shape& shape() const { return GetParam(); }
  OrderId any_id() { return between(random_, 1, shape().orders) * 7'919; }

  std::uint64_t seed_ = from_environment("ORDER_TIMEOUT_MODEL_SEED", 20'261'130);
  Random random_{seed_};
  Instant now_ = GetParam().start;
  Model model_{now_};
  TimingWheel wheel_{now_};
};

TEST_P(WheelModel, DoesWhatASortedMapDoes) {
  const std::uint64_t operations = from_environment("ORDER_TIMEOUT_MODEL_OPERATIONS", 920'000);
  for (std::uint64_t operation = 0; operation < operations; ++operation) {
    operate();
    if (operation % 50'000 == 0) {
      ASSERT_EQ(wheel_.check_invariants(), "") << "seed " << seed_ << ", operation " << operation;
    }
    ASSERT_EQ(wheel_.size(), model_.size());
    ASSERT_FALSE(HasFailure()) << "seed " << seed_ << ", operation " << operation;
  }
  drain();
}

INSTANTIATE_TEST_SUITE_P(Shapes, WheelModel, ::testing::ValuesIn(kShapes),
                         [](const auto& shape) { return shape.param.name; });

}  // namespace
}  // namespace order_timeout
