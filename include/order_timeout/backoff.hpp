// How long to wait before trying again: a list of waits, the last of which repeats, with jitter.
#pragma once

#include <vector>

#include "order_timeout/time.hpp"

namespace order_timeout {

// A value. No waits given counts as one of 1 s, a wait below 1 ms as 1 ms.
class Backoff {
 public:
  explicit Backoff(std::vector<Duration> waits);

  // The wait before retry 1, 2, ...; any number is legal, one below 1 counts as 1. `random` is
  // from [0, 1) and spreads the wait between half of the step and the whole of it, so that what
  // failed together does not come back together: never 0, never above the step.
  Duration wait(int retry_number, double random) const;

 private:
  std::vector<Duration> waits_;
};

}  // namespace order_timeout
