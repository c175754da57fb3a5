// How the stock service misbehaves on demand.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace order_timeout::stock {

enum class FaultKind : std::uint8_t {
  none,
  down,              // connections are cut, new ones refused
  hang,              // the request is read and never answered, nothing applied
  slow,              // `delay` passes before anything is applied
  status,            // answers `status`; applied first only where that is 2xx
  redirect,          // 307 to itself, nothing applied
  lose_answer,       // applied, then the connection is cut
  apply_then_delay,  // applied, then `delay` passes before the answer
  truncated_body,    // applied, then half a body
  oversized_body,    // applied, then a body of 1 MiB
  endless_head,      // applied, then header lines without end
  garbage,           // applied, then bytes that are not HTTP
  drip,              // applied, then one byte of the body every `delay`
};

struct Fault {
  FaultKind kind = FaultKind::none;
  int status = 500;
  std::chrono::milliseconds delay{0};
  int every = 1;            // strikes each every-th release call; the others are served
  std::string retry_after;  // a header of the `status` answer; empty: none
  // After this the service is well again; zero: until told otherwise. POST /fault must give it for
  // `down`.
  std::chrono::milliseconds lasts{0};
};

std::string_view to_string(FaultKind kind);

// From {"kind":"status","status":503,"delay_ms":0,"every":1,"retry_after":"2","lasts_ms":0};
// nothing where it is not.
std::optional<Fault> parse_fault(const std::string& json);

}  // namespace order_timeout::stock
