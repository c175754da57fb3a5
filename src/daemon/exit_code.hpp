// Exit codes of both programs, as sysexits.h has them where it has any.
#pragma once

namespace order_timeout {

enum ExitCode : int {
  kSuccess = 0,
  kFailure = 1,
  kProblemsFound = 3,   // order-timeoutctl: checked and found problems
  kNothingMatched = 4,  // order-timeoutctl
  kRefusedByGuard = 5,  // order-timeoutctl
  kBadUsage = 64,
  kUnavailable = 69,  // order-timeoutctl: a needed server is not there
  kNoPermission = 77,
  kBadConfiguration = 78,  // systemd does not restart on it
};

}  // namespace order_timeout
