// An event as one statement in the shop's own database: the effect and SUCCESS are one transaction,
// so that it happens exactly once.
#pragma once

#include <string>

#include "order_timeout/config.hpp"
#include "ports.hpp"
#include "postgres/bulkhead.hpp"

namespace order_timeout::postgres {

class SqlSink final : public Sink {
 public:
  // `statement` gets the event's body as $1.
  SqlSink(Bulkhead& bulkhead, const DatabaseConfig& database, std::string statement);

  // done: effect and SUCCESS are committed (recorded). uncertain: COMMIT was not answered; or
  // (recorded) the lease was lost, nothing was done and nothing is to be written. retry: rolled
  // back. rejected: the statement refuses this event's values. unhealthy: it cannot run at all.
  asio::awaitable<DeliveryOutcome> deliver(OutboxEvent event) override;

 private:
  asio::awaitable<DeliveryOutcome> outcome_of(Awaitable<DeliveryOutcome> delivering);

  Bulkhead& bulkhead_;
  const std::string statement_;
};

// What a failure of the transaction means for the event.
DeliveryOutcome delivery_outcome(const Failure& failure);

}  // namespace order_timeout::postgres
