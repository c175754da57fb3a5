// URLs of the configuration: whether they have a form that their edge takes, and their text without
// passwords.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "order_timeout/durations.hpp"

namespace order_timeout {

// What is wrong, never naming any part of the text; nothing where all is well.
std::optional<TextMistake> mistake_in_postgres_url(std::string_view text);
std::optional<TextMistake> mistake_in_redis_url(std::string_view text);
// http to this machine only; everything else that is a URL is "not in this version".
std::optional<TextMistake> mistake_in_event_url(std::string_view text);
// HOST:PORT or [IPV6]:PORT, port 0 to 65535 (0: any free one).
std::optional<TextMistake> mistake_in_address(std::string_view text);

// A URL or libpq key=value string with *** in place of its passwords. Rather too much is masked
// than too little.
std::string mask_passwords(const std::string& text);

}  // namespace order_timeout
