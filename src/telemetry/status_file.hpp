// status.json in the log directory: the figures of `order-timeoutctl status`, replaced atomically.
#pragma once

#include <string>
#include <string_view>

#include "order_timeout/outcome.hpp"

namespace order_timeout::telemetry {

// Replaces DIRECTORY/status.json: a reader sees the old text or the new one, never a part. On
// failure the old file stays and the Failure names the file and the reason. Not synced: it is new
// every 10 s. Blocks on the disk for the length of a small write. One caller at a time.
Result<Done> write_status_file(const std::string& directory, std::string_view json);

}  // namespace order_timeout::telemetry
