// The last configuration that worked, kept beside the daemon for a start whose file is broken.
#pragma once

#include <cstdint>
#include <string>

#include "order_timeout/config_parser.hpp"

namespace order_timeout::daemon {

// File and include directory as one YAML file, ${…} as it was written. What stood on the command
// line or in the environment is not in it. Replaces the file at once.
Result<Done> write_snapshot(const std::string& path, const ParsedConfig& parsed,
                            std::int64_t revision);

}  // namespace order_timeout::daemon
