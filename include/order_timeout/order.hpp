// What the shop and we talk about: an order that waits for its payment, and an event that a close
// sets off.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "order_timeout/time.hpp"

namespace order_timeout {

using OrderId = std::int64_t;
// The order row's version, 0 where the shop maps no version column.
using Version = std::int32_t;

// Who found an order first: the path that closed it is written with every decision. A rising share
// of anything but `wheel` is an early warning.
enum class Source : std::uint8_t { wheel, redis, catch_up, nightly, manual, startup };

// A pending order as the wheel holds it.
struct TrackedOrder {
  OrderId id = 0;
  Instant
      due{};  // from here on it may be closed: deadline + grace, a reminder's extension included
  Version version = 0;
  Source source = Source::wheel;

  friend bool operator==(const TrackedOrder&, const TrackedOrder&) = default;
};
static_assert(sizeof(TrackedOrder) == 24);

// Orders that one transaction tries to close. Ids are distinct.
struct DueBatch {
  std::vector<TrackedOrder> orders;
  int conflicts = 0;  // how often this very batch has met a deadlock or serialization failure
};

// One row of the outbox, claimed: we alone may deliver it until the lease lapses.
struct OutboxEvent {
  std::int64_t row_id = 0;
  std::string event_key;  // the idempotency key, the same on every attempt
  OrderId order_id = 0;
  std::string order_no;
  std::string event_type;
  std::string body;  // JSON as sent to a sink
  std::string leased_by;
  Instant closed_at{};  // when the outbox row was written, which is when the order was closed
  Instant due{};        // from when the order could be closed; due to released is counted from here
  int attempt = 1;      // this one; the first is 1
  bool uncertain = false;  // an earlier attempt may have had its effect
};

}  // namespace order_timeout
