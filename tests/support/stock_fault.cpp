#include "support/stock_fault.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <exception>

namespace order_timeout::stock {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 13> kKinds{"none",
                                                  "down",
                                                  "hang",
                                                  "slow",
                                                  "status",
                                                  "redirect",
                                                  "lose_answer",
                                                  "apply_then_delay",
                                                  "truncated_body",
                                                  "oversized_body",
                                                  "endless_head",
                                                  "garbage",
                                                  "drip"};
static_assert(static_cast<std::size_t>(FaultKind::drip) + 1 == kKinds.size());

std::int64_t number(const json::object& object, std::string_view key, std::int64_t otherwise) {
  const auto* value = object.if_contains(key);
  return value == nullptr ? otherwise : value->to_number<std::int64_t>();
}

Fault read_fault(const json::object& object) {
  Fault fault;
  const json::string& kind = object.at("kind").as_string();
  const auto* const found = std::find(kKinds.begin(), kKinds.end(), std::string_view(kind));
  if (found == kKinds.end()) throw std::invalid_argument("no such fault");
  fault.kind = static_cast<FaultKind>(found - kKinds.begin());
  fault.status = static_cast<int>(number(object, "status", 500));
  fault.delay = std::chrono::milliseconds(number(object, "delay_ms", 0));
  fault.every = static_cast<int>(std::max<std::int64_t>(number(object, "every", 1), 1));
  fault.lasts = std::chrono::milliseconds(number(object, "lasts_ms", 0));
  if (const auto* value = object.if_contains("retry_after")) fault.retry_after = value->as_string();
  return fault;
}

}  // namespace

std::string_view to_string(FaultKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

std::optional<Fault> parse_fault(const std::string& text) {
  try {
    return read_fault(json::parse(text).as_object());
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace order_timeout::stock
