// Folds repeated warnings and errors: the first of a kind is written at once, the ones that follow
// become at most one line a minute with `repeated=N`. Pure: takes the time, which is the steady
// clock's.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "telemetry/line.hpp"

namespace order_timeout::telemetry {

// A kind is level, component, message and the field `cause` (where there is none, `error`). Not
// thread-safe.
class Folding {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kWindow{60};
  // Beyond so many kinds at a time, further ones are not folded.
  static constexpr std::size_t kKindsMax = 1'024;

  // Is this entry to be written now? If not, it was folded in. Entries below `warn` and changes of
  // state always are.
  // O(log kinds).
  bool admit(const Entry& entry, TimePoint now);
  // The lines of what was folded in windows that are over: the last entry of each kind with
  // `repeated` (how many) and `last` (when the last one happened). `at` is left to the caller.
  // O(kinds).
  std::vector<Entry> due(TimePoint now);
  // All that is folded in, whatever its window, and forgets it.
  std::vector<Entry> drain();

 private:
  struct Kind {
    TimePoint since;
    std::int64_t repeated = 0;
    Entry last;
  };
  std::map<std::string, Kind> kinds_;
};

}  // namespace order_timeout::telemetry
