// When the nightly sweep is due: HH:MM of every day in a time zone, summer time included.
#pragma once

#include <optional>
#include <string>

#include "order_timeout/outcome.hpp"
#include "order_timeout/time.hpp"

namespace order_timeout {

// Once for every local day. A time that the day does not have (the clocks went forward over it) is
// the first instant after the gap; of one that it has twice, the first.
class SweepSchedule {
 public:
  // `time_zone` is an IANA name; `minute_of_day` 0 to 1439. Anything else: rejected, saying what.
  static Result<SweepSchedule> make(const std::string& time_zone, int minute_of_day);

  // The first nightly instant after `now`. kNever beyond the year 3000.
  Instant next(Instant now) const;
  // The last nightly instant that is not after `now`; an instant before 1970 counts as 1970.
  Instant latest(Instant now) const;
  // Has the latest nightly instant passed without a run since? `last_run` is when the last
  // successful nightly sweep began; where there was none, the night was missed.
  bool missed(Instant now, std::optional<Instant> last_run) const;

 private:
  SweepSchedule(std::string time_zone, int minute_of_day);

  std::string time_zone_;
  int minute_of_day_;
};

}  // namespace order_timeout
