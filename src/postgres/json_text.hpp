// JSON as text, compact and always the same for the same values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace order_timeout::postgres {

// The text in quotes, with control characters escaped; UTF-8 passes as it is.
std::string json_string(std::string_view text);

std::string json_array(const std::vector<std::string>& texts);

// Key and JSON text of the value, in the given order.
using JsonFields = std::vector<std::pair<std::string_view, std::string>>;
std::string json_object(const JsonFields& fields);

}  // namespace order_timeout::postgres
