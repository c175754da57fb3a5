// Where a sink is: a plain http URL taken apart. Pure.
#pragma once

#include <string>
#include <string_view>

#include "order_timeout/outcome.hpp"

namespace order_timeout::http {

struct Url {
  std::string host;       // name or address, an IPv6 address without its brackets
  std::string port;       // decimal, 1 to 65535; 80 where the URL has none
  std::string target;     // path and query, begins with '/'
  std::string authority;  // what the Host header says
};

// Takes http://HOST[:PORT][/PATH][?QUERY]. Another scheme, userinfo, a fragment and anything but
// printable ASCII are rejected; the detail never repeats the URL, which may hold a secret.
Result<Url> parse_url(std::string_view text);

}  // namespace order_timeout::http
