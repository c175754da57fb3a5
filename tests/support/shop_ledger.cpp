#include "support/shop_ledger.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace order_timeout::shop {
namespace {

// An order closed later than this was forgotten for a while.
constexpr Duration kLateMost{2'000};

std::string order_text(OrderId id) { return "order " + std::to_string(id); }

std::string times(int count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

Duration Lateness::at(double quantile) const {
  if (values_.empty()) return {};
  auto values = values_;
  const auto last = static_cast<double>(values.size() - 1);
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(quantile * last));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return Duration{values[static_cast<std::size_t>(rank)]};
}

Duration Lateness::least() const {
  if (values_.empty()) return {};
  return Duration{*std::min_element(values_.begin(), values_.end())};
}

Ledger::Ledger(Stocks opening) : stocks_{std::move(opening)} {}

void Ledger::move_stock(const Entry& entry, bool to_shelf) {
  for (const auto& item : entry.order.items) {
    stocks_[item.sku].reserved -= item.quantity;
    if (to_shelf) stocks_[item.sku].available += item.quantity;
    (to_shelf ? figures_.units_released : figures_.units_sold) += item.quantity;
  }
}

void Ledger::placed(PlacedOrder order) {
  for (const auto& item : order.items) {
    stocks_[item.sku].available -= item.quantity;
    stocks_[item.sku].reserved += item.quantity;
  }
  waiting_.insert(order.id);
  ++figures_.placed;
  const auto id = order.id;
  entries_.emplace(id, Entry{.order = std::move(order)});
}

void Ledger::restocked(std::int64_t sku, std::int64_t quantity) {
  stocks_[sku].available += quantity;
}

void Ledger::paid(OrderId id) {
  auto& entry = entries_.at(id);
  if (entry.state == State::closed) {
    return unexpected(order_text(id) + " was paid after it had been seen closed");
  }
  entry.state = State::paid;
  waiting_.erase(id);
  move_stock(entry, false);
  ++figures_.paid;
}

void Ledger::paid_too_late() { ++figures_.late_payments; }

void Ledger::unexpected(std::string what) { unexpected_.push_back(std::move(what)); }

std::vector<Watch> Ledger::watches(const std::unordered_set<OrderId>& ids) const {
  std::vector<Watch> watches;
  watches.reserve(ids.size());
  for (const auto id : ids) {
    watches.push_back({.id = id, .close_after = entries_.at(id).order.close_after});
  }
  return watches;
}

void Ledger::saw_closed(Sighting sighting) {
  auto& entry = entries_.at(sighting.id);
  if (entry.state == State::paid) {
    return unexpected(order_text(sighting.id) + " was closed after its payment had been committed");
  }
  if (entry.state == State::closed) return;
  entry.state = State::closed;
  waiting_.erase(sighting.id);
  unreleased_.insert(sighting.id);
  close_lateness_.add(sighting.late);
  ++figures_.closed;
}

void Ledger::saw_released(Sighting sighting) {
  auto& entry = entries_.at(sighting.id);
  if (entry.released) return;
  entry.released = true;
  unreleased_.erase(sighting.id);
  move_stock(entry, true);
  release_lateness_.add(sighting.late);
  ++figures_.released;
}

Figures Ledger::figures() const {
  auto figures = figures_;
  figures.waiting = waiting_.size();
  return figures;
}

void Ledger::compare_order(const Entry& entry, const Observed& observed,
                           std::vector<std::string>& found) {
  const auto name = order_text(entry.order.id);
  const auto seen = observed.orders.find(entry.order.id);
  if (seen == observed.orders.end()) {
    found.push_back(name + " was placed and is not in the database");
    return;
  }
  const auto& order = seen->second;
  if (entry.state == State::waiting) {
    const auto late = saturating_sub(observed.now, entry.order.close_from);
    found.push_back(name + " is unpaid and not closed but " + order.status + ", " +
                    std::to_string(late.count()) + " ms after its deadline + grace");
    return;
  }
  const bool closed = entry.state == State::closed;
  const std::string expected = closed ? "CLOSED" : "PAID";
  if (order.status != expected) {
    found.push_back(name + " should be " + expected + " and is " + order.status);
  }
  const int once = closed ? 1 : 0;
  if (order.events != once) found.push_back(name + " has " + times(order.events, "event"));
  if (order.events_done != once) {
    found.push_back(name + " has " + times(order.events_done, "finished event"));
  }
  if (order.releases != once) {
    found.push_back(name + " has had " + times(order.releases, "release") + " of its stock");
  }
}

void Ledger::compare_stock(const Observed& observed, std::vector<std::string>& found) const {
  for (const auto& [sku, expected] : stocks_) {
    const auto seen = observed.stocks.find(sku);
    const auto have = seen == observed.stocks.end() ? Stock{} : seen->second;
    if (have == expected) continue;
    found.push_back("SKU " + std::to_string(sku) + " should have " +
                    std::to_string(expected.available) + " available and " +
                    std::to_string(expected.reserved) + " reserved, and has " +
                    std::to_string(have.available) + " and " + std::to_string(have.reserved));
  }
}

void Ledger::judge_lateness(std::vector<std::string>& found) const {
  if (close_lateness_.least() < Duration{0}) {
    found.push_back("an order was closed " + std::to_string(-close_lateness_.least().count()) +
                    " ms before its deadline + grace");
  }
  if (close_lateness_.at(1.0) > kLateMost) {
    found.push_back("an order was closed " + std::to_string(close_lateness_.at(1.0).count()) +
                    " ms after its deadline + grace");
  }
}

std::vector<std::string> Ledger::differences(const Observed& observed) const {
  auto found = unexpected_;
  for (const auto& [id, entry] : entries_) compare_order(entry, observed, found);
  for (const auto& [id, order] : observed.orders) {
    if (entries_.contains(id)) continue;
    found.push_back(order_text(id) + " is in the database and was never placed");
  }
  if (observed.claimable_events > 0) {
    found.push_back(std::to_string(observed.claimable_events) +
                    " events are still to be delivered");
  }
  compare_stock(observed, found);
  judge_lateness(found);
  return found;
}

}  // namespace order_timeout::shop
