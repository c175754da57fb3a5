#include "daemon/snapshot.hpp"

#include "daemon/text_file.hpp"

namespace order_timeout::daemon {

Result<Done> write_snapshot(const std::string& path, const ParsedConfig& parsed,
                            std::int64_t revision) {
  const std::string text =
      "# Written by order-timeoutd: the last configuration that worked. A start takes it where "
      "the\n"
      "# configuration file is missing or broken. Changes made here are lost.\n# revision " +
      std::to_string(revision) + "\n" + parsed.file_text;
  return replace_text_file(path, text);
}

}  // namespace order_timeout::daemon
