#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "ctl/invocation.hpp"

namespace order_timeout::ctl {

std::string operator_name() {
  if (const char* sudo = std::getenv("SUDO_USER"); sudo != nullptr && *sudo != '\0') return sudo;
  if (const passwd* user = getpwuid(getuid()); user != nullptr) return user->pw_name;
  return std::to_string(getuid());
}

}  // namespace order_timeout::ctl
