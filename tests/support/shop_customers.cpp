#include "support/shop_customers.hpp"

#include <algorithm>
#include <utility>

namespace order_timeout::shop {
namespace {

constexpr std::int64_t kEarlyPercent = 72;
constexpr std::int64_t kLastMomentPercent = 4;
constexpr std::int64_t kTooLatePercent = 4;
constexpr std::int64_t kLastMomentMs = 100;

Payment payment_of(std::int64_t percentile) {
  if (percentile < kEarlyPercent) return Payment::early;
  if (percentile < kEarlyPercent + kLastMomentPercent) return Payment::last_moment;
  if (percentile < kEarlyPercent + kLastMomentPercent + kTooLatePercent) return Payment::too_late;
  return Payment::never;
}

}  // namespace

Customers::Customers(Options options) : options_{std::move(options)}, random_{options_.seed} {}

std::int64_t Customers::between(std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>{least, most}(random_);
}

std::vector<Item> Customers::items() {
  const auto skus = static_cast<std::int64_t>(options_.skus.size());
  const auto wanted = static_cast<std::size_t>(between(1, std::min<std::int64_t>(3, skus)));
  std::vector<std::int64_t> chosen;
  std::sample(options_.skus.begin(), options_.skus.end(), std::back_inserter(chosen), wanted,
              random_);
  std::vector<Item> items;
  for (const auto sku : chosen) {
    items.push_back({.sku = sku, .quantity = static_cast<int>(between(1, 2))});
  }
  return items;
}

Basket Customers::next() {
  const auto lines = static_cast<std::int64_t>(options_.lines.size());
  const Line& line = options_.lines[static_cast<std::size_t>(between(0, lines - 1))];
  Basket basket{.line = line.name, .close_after = line.timeout + options_.grace, .items = items()};
  basket.payment = payment_of(between(0, 99));
  const auto close_ms = basket.close_after.count();
  switch (basket.payment) {
    case Payment::early:
      basket.pay_after = Duration{between(close_ms / 20, close_ms * 7 / 10)};
      break;
    case Payment::last_moment:
      basket.pay_after = Duration{close_ms + between(-kLastMomentMs, kLastMomentMs)};
      break;
    case Payment::too_late:
      basket.pay_after = Duration{close_ms + between(800, 1'200)};
      break;
    case Payment::never:
      break;
  }
  return basket;
}

}  // namespace order_timeout::shop
