// The one place where an error of Redis becomes a Failure: a table by the reply's code word. Pure.
#pragma once

#include <string_view>

#include "order_timeout/outcome.hpp"

namespace order_timeout::redis {

struct Classified {
  Failure failure;
  bool reconnect =
      false;  // this connection will not get better: a new one may reach another server
};

// `error` is the text of an error reply without its '-'. The detail names the code and what mends
// it, and holds the first 120 printable bytes of the text.
Classified classify(std::string_view error);

// The same for an error reply to AUTH or SELECT: always `unavailable`, and without the text, in
// which some servers repeat the command's arguments.
Failure classify_handshake(std::string_view command, std::string_view error);

}  // namespace order_timeout::redis
