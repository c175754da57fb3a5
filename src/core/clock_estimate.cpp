#include "order_timeout/clock_estimate.hpp"

#include <algorithm>
#include <span>

namespace order_timeout {
namespace {

constexpr Duration kRoundedUp{1};  // a database timestamp has lost up to this on its way here

Duration up(Monotonic monotonic) { return std::chrono::ceil<Duration>(monotonic); }
Duration down(Monotonic monotonic) { return std::chrono::floor<Duration>(monotonic); }

}  // namespace

std::optional<ClockJump> ClockEstimate::add(const DatabaseTimeSample& sample) {
  const Duration read = sample.database.time_since_epoch();
  const Duration least = read - kRoundedUp - up(sample.received);
  const Duration most = read - down(sample.sent);
  std::optional<ClockJump> jump;
  if (known() && (least > best().most + kJump || most < best().least - kJump)) {
    const Instant before = now(sample.received);
    count_ = 0;
    jump = ClockJump{.before = before, .after = Instant{least + down(sample.received)}};
  }
  forget_refuted_by(most);
  if (count_ == kWindow) {
    std::shift_left(offsets_.begin(), offsets_.end(), 1);
    --count_;
  }
  offsets_[count_++] = Offset{.least = least, .most = most};
  return jump;
}

Instant ClockEstimate::now(Monotonic at) const {
  if (!known()) return kAlways;
  return Instant{down(at) + best().least};
}

Duration ClockEstimate::skew(Instant host, Monotonic at) const {
  return known() ? saturating_sub(host, now(at)) : Duration{0};
}

Duration ClockEstimate::uncertainty() const {
  return known() ? best().most - best().least : Duration{0};
}

// Requires: known().
const ClockEstimate::Offset& ClockEstimate::best() const {
  const auto samples = std::span(offsets_).first(count_);
  return *std::ranges::max_element(samples, {}, &Offset::least);
}

// The database's clock runs slower than ours, or was set back a little.
void ClockEstimate::forget_refuted_by(Duration most) {
  const auto samples = std::span(offsets_).first(count_);
  const auto refuted =
      std::ranges::remove_if(samples, [most](const Offset& offset) { return offset.least > most; });
  count_ -= refuted.size();
}

}  // namespace order_timeout
