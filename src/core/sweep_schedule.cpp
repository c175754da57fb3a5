#include "order_timeout/sweep_schedule.hpp"

#include <date/tz.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace order_timeout {
namespace {

using SystemTime = date::sys_time<Duration>;
using LocalTime = date::local_time<Duration>;

constexpr int kMinutesPerDay = 24 * 60;
constexpr Instant kEarliest = instant_from_ms(0);                 // 1970-01-01
constexpr Instant kLatest = instant_from_ms(32'503'680'000'000);  // 3000-01-01

// A zone may skip a whole day (Samoa, December 2011), so the neighbours of the neighbours count.
constexpr date::days kDaysAround{2};

Failure rejected(std::string detail) {
  return {.kind = FailureKind::rejected, .detail = std::move(detail), .sqlstate = {}};
}

Instant instant_of(SystemTime time) { return Instant{time.time_since_epoch()}; }

// The one instant that stands for a local time.
Instant instant_for(const date::time_zone& zone, LocalTime local) {
  const date::local_info found = zone.get_info(local);
  if (found.result == date::local_info::nonexistent) {
    return instant_of(std::chrono::time_point_cast<Duration>(found.first.end));
  }
  return instant_of(SystemTime{local.time_since_epoch() - found.first.offset});
}

date::local_days day_of(const date::time_zone& zone, Instant instant) {
  return date::floor<date::days>(zone.to_local(SystemTime{instant.time_since_epoch()}));
}

}  // namespace

Result<SweepSchedule> SweepSchedule::make(const std::string& time_zone, int minute_of_day) {
  if (minute_of_day < 0 || minute_of_day >= kMinutesPerDay) {
    return rejected("minute of the day " + std::to_string(minute_of_day) +
                    " is not between 0 and 1439");
  }
  try {
    date::locate_zone(time_zone);
  } catch (const std::runtime_error& error) {
    return rejected("time zone \"" + time_zone + "\": " + error.what());
  }
  return SweepSchedule(time_zone, minute_of_day);
}

SweepSchedule::SweepSchedule(std::string time_zone, int minute_of_day)
    : time_zone_(std::move(time_zone)), minute_of_day_(minute_of_day) {}

Instant SweepSchedule::next(Instant now) const {
  if (now >= kLatest) return kNever;
  const date::time_zone& zone = *date::locate_zone(time_zone_);
  date::local_days day = day_of(zone, std::max(now, kEarliest)) - kDaysAround;
  while (true) {
    const Instant nightly = instant_for(zone, day + std::chrono::minutes{minute_of_day_});
    if (nightly > now) return nightly;
    day += date::days{1};
  }
}

Instant SweepSchedule::latest(Instant now) const {
  now = std::clamp(now, kEarliest, kLatest);
  const date::time_zone& zone = *date::locate_zone(time_zone_);
  date::local_days day = day_of(zone, now) + kDaysAround;
  while (true) {
    const Instant nightly = instant_for(zone, day + std::chrono::minutes{minute_of_day_});
    if (nightly <= now) return nightly;
    day -= date::days{1};
  }
}

bool SweepSchedule::missed(Instant now, std::optional<Instant> last_run) const {
  return !last_run || *last_run < latest(now);
}

}  // namespace order_timeout
