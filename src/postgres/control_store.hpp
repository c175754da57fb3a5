// The daemon's own tables: the port ControlStore over the bulkhead.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "order_timeout/config.hpp"
#include "ports.hpp"
#include "postgres/bulkhead.hpp"

namespace order_timeout::postgres {

class ControlStore final : public order_timeout::ControlStore {
 public:
  ControlStore(Bulkhead& bulkhead, const Config& config);

  // Objects that are not there at all do not fit either.
  Awaitable<MappingState> mapping_state() override;
  Awaitable<std::vector<std::string>> mapping_problems() override;
  Awaitable<std::int64_t> rules_revision() override;
  Awaitable<std::int64_t> apply_rules(RuleSet rules) override;
  Awaitable<DueByRules> due_by_rules(RuleSet rules) override;
  Awaitable<std::vector<Pause>> pauses() override;
  Awaitable<Done> pause(Pause pause) override;
  Awaitable<std::map<std::string, std::int64_t>> unlisted_lines() override;
  Awaitable<ClockSample> sample_clock() override;
  Awaitable<std::int64_t> begin_sweep(SweepKind kind) override;
  Awaitable<Done> finish_sweep(SweepReport report) override;
  Awaitable<std::optional<Instant>> last_nightly() override;
  Awaitable<OrderOverview> overview() override;
  Awaitable<std::vector<ManualClose>> manual_closes() override;
  Awaitable<Done> manual_closes_audited(std::vector<std::int64_t> run_ids) override;

 private:
  Bulkhead& bulkhead_;
  const OrderTableConfig order_table_;
  const std::string mapping_;
};

// The rules as the function apply_rules() reads them. `payment_max_delay` is its own default.
std::string rules_text(const RuleSet& rules);

}  // namespace order_timeout::postgres
