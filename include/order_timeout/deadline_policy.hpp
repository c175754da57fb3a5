// When an order may be closed: the database's due instant and what a reminder may do to it. The
// database computes deadline + grace; here only the reminder is weighed. Pure.
#pragma once

#include <optional>

#include "order_timeout/config.hpp"
#include "order_timeout/time.hpp"

namespace order_timeout {

// A reminder later than the database's due instant delays the close by at most `max_extension`; an
// earlier one changes nothing. Never before `database_due`.
Instant close_not_before(Instant database_due, std::optional<Instant> reminder,
                         Duration max_extension);

// The instant a Redis score stands for, rounded up to whole milliseconds. Nothing for garbage: NaN,
// infinities and whatever is not between 2000-01-01 and 2200-01-01 in the configured unit.
std::optional<Instant> instant_of_score(double score, ScoreUnit unit);

}  // namespace order_timeout
