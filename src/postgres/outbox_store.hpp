// Events on their way to the sinks: the port OutboxStore over the bulkhead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ports.hpp"
#include "postgres/bulkhead.hpp"

namespace order_timeout::postgres {

class OutboxStore final : public order_timeout::OutboxStore {
 public:
  explicit OutboxStore(Bulkhead& bulkhead);

  // Each claim has a name of its own, so that one whose lease lapsed can write nothing any more.
  Awaitable<std::vector<OutboxEvent>> claim(std::string event_type, int limit) override;
  Awaitable<std::int64_t> finish(std::vector<FinishedAttempt> attempts) override;
  Awaitable<OutboxOverview> overview() override;
  Awaitable<std::int64_t> retire(Duration age, int limit) override;

 private:
  Bulkhead& bulkhead_;
  const std::string instance_;  // of this process, unlike that of any other
  std::uint64_t claims_ = 0;
};

}  // namespace order_timeout::postgres
