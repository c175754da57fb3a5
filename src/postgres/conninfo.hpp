// The connection string that is really used: database.url with our bounds put in where it does not
// say otherwise.
#pragma once

#include <string>

#include "order_timeout/outcome.hpp"
#include "order_timeout/time.hpp"

namespace order_timeout::postgres {

// Takes the URI and the key=value form, several hosts included, and gives the key=value form.
// connect_timeout is rounded up to whole seconds, at least 2 (libpq takes no less); it holds for
// each address tried. Keepalives and tcp_user_timeout notice a dead peer in about 5 s together;
// neither does alone. Fails (rejected) without quoting the text, which may hold a password.
Result<std::string> complete_conninfo(const std::string& url, Duration connect_timeout);

// The text with the password of the connection string, and everything that looks like one, masked.
std::string without_passwords(std::string text);

}  // namespace order_timeout::postgres
