#include "support/shop_report.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace order_timeout::shop {
namespace {

constexpr std::size_t kDifferencesShown = 20;

// 12345 -> "12,345"
std::string grouped(std::size_t number) {
  auto digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

std::string milliseconds(Duration duration) { return std::to_string(duration.count()) + " ms"; }

std::string seconds(Duration duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(duration.count()) / 1000.0);
  return text;
}

std::string row(const std::string& what, std::size_t count, const std::string& remark) {
  return "  " + what + std::string(22 - std::min<std::size_t>(21, what.size()), ' ') +
         padded(grouped(count), 9) + (remark.empty() ? "" : "   " + remark) + "\n";
}

std::string lateness_row(const std::string& what, const Lateness& lateness) {
  const auto text = lateness.empty() ? std::string{"nothing to measure"}
                                     : "p50 " + milliseconds(lateness.at(0.5)) + "   p99 " +
                                           milliseconds(lateness.at(0.99)) + "   max " +
                                           milliseconds(lateness.at(1.0));
  return "  " + what + std::string(25 - std::min<std::size_t>(24, what.size()), ' ') + text + "\n";
}

}  // namespace

std::string progress_line(Duration open, const Ledger& ledger) {
  const auto figures = ledger.figures();
  const auto& lateness = ledger.close_lateness();
  auto line = padded(std::to_string((open.count() + 500) / 1000), 4) + " s" + "  placed " +
              padded(std::to_string(figures.placed), 4) + "  paid " +
              padded(std::to_string(figures.paid), 4) + "  waiting " +
              padded(std::to_string(figures.waiting), 3) + "  closed " +
              padded(std::to_string(figures.closed), 4) + "  released " +
              padded(std::to_string(figures.released), 4) + "  late payments " +
              padded(std::to_string(figures.late_payments), 3);
  if (lateness.empty()) return line;
  return line + "  lateness p50 " + milliseconds(lateness.at(0.5)) + "  p99 " +
         milliseconds(lateness.at(0.99));
}

std::string summary(Duration open, Duration drained, const Ledger& ledger) {
  const auto figures = ledger.figures();
  const auto sold = grouped(static_cast<std::size_t>(figures.units_sold));
  const auto back = grouped(static_cast<std::size_t>(figures.units_released));
  auto text = "\nThe shop was open for " + seconds(open) + ", then waited " + seconds(drained) +
              " for the last orders.\n\n";
  text += row("orders placed", figures.placed, "");
  text += row("paid in time", figures.paid, sold + " units sold");
  text += row("closed unpaid", figures.closed, "");
  text += row("stock released", figures.released, back + " units back on the shelf");
  text += row("late payments", figures.late_payments, "found the order closed: money goes back");
  if (figures.waiting > 0) text += row("still waiting", figures.waiting, "");
  text += "\n";
  text += lateness_row("due to closed", ledger.close_lateness());
  text += lateness_row("due to stock released", ledger.release_lateness());
  return text + "\n";
}

std::string verdict(const std::vector<std::string>& differences) {
  if (differences.empty()) {
    return "  The books balance: every order accounted for, the stock of every SKU exactly as the "
           "ledger says.\n";
  }
  auto text = "  THE BOOKS DO NOT BALANCE: " + grouped(differences.size()) + " differences\n";
  const auto shown = std::min(differences.size(), kDifferencesShown);
  for (std::size_t i = 0; i < shown; ++i) text += "    - " + differences[i] + "\n";
  if (shown < differences.size()) {
    text += "    - and " + grouped(differences.size() - shown) + " more\n";
  }
  return text;
}

}  // namespace order_timeout::shop
