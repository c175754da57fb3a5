// What an HTTP exchange means for the event it carried: a pure table, one row per kind of answer or
// failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "http/exchange.hpp"
#include "order_timeout/outcome.hpp"

namespace order_timeout::http {

inline constexpr Duration kRetryAfterMax{3'600'000};

// `done_codes`: answers beside 2xx that mean done already. `wall_seconds`: seconds since the epoch,
// used for a Retry-After date where the answer has no Date of its own.
DeliveryOutcome classify(const HttpResult& result, const std::vector<int>& done_codes,
                         std::int64_t wall_seconds);

// Whole seconds or an HTTP date (RFC 9110, 10.2.3), at most kRetryAfterMax, a date gone by is zero.
// Nothing for what is neither, a negative number among it.
std::optional<Duration> parse_retry_after(std::string_view value, std::int64_t now_seconds);

// Seconds since the epoch from any of the three forms of RFC 9110, 5.6.7.
std::optional<std::int64_t> parse_http_date(std::string_view text);

}  // namespace order_timeout::http
