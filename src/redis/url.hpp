// Where a Redis is and as whom to speak to it, read from one URL. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "order_timeout/outcome.hpp"

namespace order_timeout::redis {

struct Url {
  std::string host;  // name or address without brackets; empty for a unix socket
  std::uint16_t port = 6379;
  std::string path;      // of the unix socket; empty for TCP
  std::string user;      // empty: the default user
  std::string password;  // empty: no AUTH, unless a user is named
  int database = 0;
};

// Reads redis://[user[:password]@]host[:port][/db] and unix://[user[:password]@]/path[?db=N]; user,
// password and path may be percent-encoded, an IPv6 address stands in brackets. A Failure is
// `rejected`, says which part is wrong and never holds a part of the text.
Result<Url> parse_url(std::string_view text);

}  // namespace order_timeout::redis
