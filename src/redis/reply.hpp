// What Redis answered, copied out of hiredis, and its reading into our values. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "order_timeout/outcome.hpp"
#include "ports.hpp"

namespace order_timeout::redis {

// Longer texts are cut here when they are copied. A cut member names no order: it comes back as its
// first 512 bytes and neither is found in the database nor removed by that name.
inline constexpr std::size_t kTextMax = 512;

enum class ReplyKind : std::uint8_t { nothing, text, status, integer, error, array, other };

struct Reply {
  ReplyKind kind = ReplyKind::nothing;
  std::string text;  // at most kTextMax bytes
  std::int64_t integer = 0;
  std::vector<Reply> elements;
};

// "1.5", "inf", "-inf", "1e300"; nothing for what is no number, NaN included.
std::optional<double> parse_score(std::string_view text);
// As Redis and our script read it back without loss.
std::string score_text(double score);

// Each gives `rejected` where the reply has not the shape that the command promises.
Result<ReminderPage> read_page(const Reply& reply);            // … WITHSCORES
Result<ReminderPage> read_scan(const Reply& reply);            // ZSCAN
Result<std::optional<double>> read_score(const Reply& reply);  // ZSCORE
Result<std::int64_t> read_count(const Reply& reply);           // an integer
Result<std::int64_t> read_time_ms(const Reply& reply);         // TIME

}  // namespace order_timeout::redis
