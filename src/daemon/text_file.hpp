// Small text files, read and written as a whole. Blocks on the disk; never on a pipe or a device.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "order_timeout/outcome.hpp"

namespace order_timeout::daemon {

struct TextFile {
  std::string text;
  bool readable_by_others = false;
};

// The first `most` bytes of a regular file. The failure's detail is half a sentence: "cannot be
// read: No such file or directory".
Result<TextFile> read_text_file(const std::string& path, std::size_t most);

// Replaces the file at once, readable by its owner alone, and waits until the disk has it: whoever
// reads it, also after a crash, finds the old content or the new one.
Result<Done> replace_text_file(const std::string& path, std::string_view text);

}  // namespace order_timeout::daemon
