#include "support/shop_floor.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <ratio>
#include <utility>

#include "support/shop_report.hpp"

namespace order_timeout::shop {
namespace {

constexpr int kCashiers = 2;

// Unlike those of an earlier run on the same tables.
std::string order_no(std::size_t number) {
  static const auto opened = std::chrono::duration_cast<std::chrono::seconds>(
                                 std::chrono::system_clock::now().time_since_epoch())
                                 .count();
  char text[48];
  std::snprintf(text, sizeof text, "S%lld-%06zu", static_cast<long long>(opened), number);
  return text;
}

std::chrono::system_clock::time_point to_system_time(Instant instant) {
  return std::chrono::system_clock::time_point{instant.time_since_epoch()};
}

Stocks opening_stock(ShopDatabase& database) {
  database.fill_empty_shelves();
  return database.stocks();
}

}  // namespace

Floor::Floor(Options options)
    : options_{std::move(options)}, watcher_{options_.database}, ledger_{opening_stock(watcher_)} {
  for (const auto& [sku, stock] : ledger_.stocks()) skus_.push_back(sku);
}

Floor::~Floor() { close(); }

void Floor::guarded(void (Floor::*work)(const std::stop_token&), const std::stop_token& stop) {
  try {
    (this->*work)(stop);
  } catch (const std::exception& error) {
    const std::scoped_lock lock{mutex_};
    if (!failure_) failure_ = error.what();
  }
}

void Floor::open() {
  counter_ =
      std::jthread{[this](const std::stop_token& stop) { guarded(&Floor::take_orders, stop); }};
  for (int i = 0; i < kCashiers; ++i) {
    cashiers_.emplace_back(
        [this](const std::stop_token& stop) { guarded(&Floor::take_payments, stop); });
  }
}

void Floor::stop_orders() {
  counter_.request_stop();
  if (counter_.joinable()) counter_.join();
}

void Floor::close() {
  stop_orders();
  for (auto& cashier : cashiers_) cashier.request_stop();
  cashiers_.clear();  // a jthread joins
}

void Floor::take_orders(const std::stop_token& stop) {
  ShopDatabase database{options_.database};
  Reminders reminders{options_.redis, options_.zset};
  Customers customers{
      {.lines = options_.lines, .grace = options_.grace, .skus = skus_, .seed = options_.seed}};
  const auto period = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>{1.0 / options_.orders_per_second});
  auto next = std::chrono::steady_clock::now();
  for (std::size_t taken = 0; taken < options_.orders_max; ++taken) {
    {
      std::unique_lock lock{mutex_};
      changed_.wait_until(lock, stop, next, [] { return false; });
    }
    if (stop.stop_requested()) return;
    const auto basket = customers.next();
    const auto number = order_no(taken + 1);
    const auto receipt = take_order(database, number, basket);
    reminders.remind(number, receipt.created + basket.close_after - options_.grace);
    next = std::max(next + period, std::chrono::steady_clock::now() - std::chrono::seconds{1});
  }
}

Receipt Floor::take_order(ShopDatabase& database, const std::string& number, const Basket& basket) {
  auto receipt = database.place(number, basket);
  {
    const std::scoped_lock lock{mutex_};
    if (!first_) first_ = receipt.order.id;
    for (const auto& item : receipt.restocked) ledger_.restocked(item.sku, item.quantity);
    ledger_.placed(receipt.order);
    if (basket.payment != Payment::never) {
      payments_.push(
          {.at = to_system_time(receipt.created + basket.pay_after), .order = receipt.order});
    }
  }
  changed_.notify_all();
  return receipt;
}

std::optional<PlacedOrder> Floor::next_payment(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (!stop.stop_requested()) {
    if (payments_.empty()) {
      changed_.wait(lock, stop, [this] { return !payments_.empty(); });
      continue;
    }
    const auto at = payments_.top().at;
    if (at <= std::chrono::system_clock::now()) {
      auto order = payments_.top().order;
      payments_.pop();
      return order;
    }
    changed_.wait_until(lock, stop, at,
                        [this, at] { return payments_.empty() || payments_.top().at < at; });
  }
  return std::nullopt;
}

void Floor::take_payments(const std::stop_token& stop) {
  ShopDatabase database{options_.database};
  while (const auto order = next_payment(stop)) take_payment(database, *order);
}

void Floor::take_payment(ShopDatabase& database, const PlacedOrder& order) {
  const auto answer = database.pay(order);
  const std::scoped_lock lock{mutex_};
  switch (answer) {
    case PayAnswer::paid:
      return ledger_.paid(order.id);
    case PayAnswer::found_closed:
      return ledger_.paid_too_late();
    case PayAnswer::found_otherwise:
      return ledger_.unexpected("order " + std::to_string(order.id) +
                                " was neither pending nor closed when its payment came");
  }
}

void Floor::look() {
  std::vector<Watch> waiting, unreleased;
  {
    const std::scoped_lock lock{mutex_};
    waiting = ledger_.waiting();
  }
  const auto closed = watcher_.closed_of(waiting);
  {
    const std::scoped_lock lock{mutex_};
    for (const auto& sighting : closed) ledger_.saw_closed(sighting);
    unreleased = ledger_.closed_unreleased();
  }
  const auto released = watcher_.released_of(unreleased);
  const std::scoped_lock lock{mutex_};
  for (const auto& sighting : released) ledger_.saw_released(sighting);
}

bool Floor::settled() {
  {
    const std::scoped_lock lock{mutex_};
    if (!ledger_.settled()) return false;
  }
  return watcher_.claimable_events() == 0;
}

std::string Floor::progress(Duration open) {
  const std::scoped_lock lock{mutex_};
  return progress_line(open, ledger_);
}

std::optional<std::string> Floor::failure() {
  const std::scoped_lock lock{mutex_};
  return failure_;
}

std::vector<std::string> Floor::differences() {
  look();
  if (!first_) return {"not a single order was placed"};
  return ledger_.differences(watcher_.observe(*first_));
}

}  // namespace order_timeout::shop
