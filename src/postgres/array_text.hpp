// Values as the text forms of PostgreSQL's arrays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace order_timeout::postgres {

// '{1,2,3}', to be cast to bigint[] or int[].
std::string array_text(const std::vector<std::int64_t>& numbers);
// '{"a","b\"c"}', to be cast to text[]. Any bytes but NUL.
std::string array_text(const std::vector<std::string>& texts);

// Could PostgreSQL hold it? Valid UTF-8 without NUL, at most `bytes_max` bytes.
bool storable(std::string_view text, std::size_t bytes_max);

}  // namespace order_timeout::postgres
