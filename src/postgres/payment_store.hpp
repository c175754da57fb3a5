// Late payments, and what was done to orders by others than the closers: the port PaymentStore over
// the bulkhead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ports.hpp"
#include "postgres/bulkhead.hpp"

namespace order_timeout::postgres {

class PaymentStore final : public order_timeout::PaymentStore {
 public:
  explicit PaymentStore(Bulkhead& bulkhead) : bulkhead_(bulkhead) {}

  Awaitable<std::vector<Notice>> notices(int limit) override;
  Awaitable<Done> notices_told(std::vector<std::int64_t> ids) override;
  Awaitable<WatchedPage> watch(WatchPosition from, int limit) override;
  Awaitable<std::vector<CheckedOrder>> orders_to_check(std::vector<OrderId> ids,
                                                       std::vector<std::string> lines) override;
  Awaitable<std::string> hold_for_payment(OrderId id, std::string reason) override;
  Awaitable<WatchPosition> newest(std::int64_t events) override;

 private:
  Bulkhead& bulkhead_;
};

}  // namespace order_timeout::postgres
