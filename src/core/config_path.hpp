// Dotted paths of configuration keys. A segment that is not plain stands in double quotes:
// business_lines."a.b".timeout.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace order_timeout {

// `path` and below it `segment`; `segment` alone where `path` is empty.
std::string join_path(const std::string& path, std::string_view segment);

// The segments; nothing for an empty segment or a quote that does not end.
std::optional<std::vector<std::string>> split_path(std::string_view path);

// Which candidate was meant: the nearest by edit distance, nothing where none is near. O(sum of
// lengths squared).
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string_view>& candidates);

// Foreign text for a message: at most `most` bytes, control characters and invalid UTF-8 escaped,
// in double quotes.
std::string quoted_for_message(std::string_view text, std::size_t most = 60);

// The position of the first byte that is not UTF-8; nothing where all is well.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

}  // namespace order_timeout
