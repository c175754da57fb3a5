// The shop's orders as PostgreSQL has them: the port OrderStore over the bulkhead.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "order_timeout/config.hpp"
#include "ports.hpp"
#include "postgres/bulkhead.hpp"
#include "postgres/order_scans.hpp"

namespace order_timeout::postgres {

class OrderStore final : public order_timeout::OrderStore {
 public:
  OrderStore(Bulkhead& bulkhead, const Config& config);

  // What a reminder's member names, from the next call on.
  void set_reminder_member(ReminderMember member) { member_ = member; }

  // At most 50,000 orders a call. Where that was not all, `next_watermark` is the one asked for and
  // the next call with it goes on where this one ended. An order with created_at within the overlap
  // comes again.
  Awaitable<Discovered> discover(Instant watermark) override;
  Awaitable<ScanPage> scan(ScanRequest request) override;
  Awaitable<std::vector<ResolvedReminder>> resolve(std::vector<std::string> members) override;
  Awaitable<std::map<OrderId, NamedOrder>> names_of(std::vector<OrderId> ids) override;
  // The next 10,000 at most, from the beginning again after the last; of each order number the
  // newest. A call is needed before their order numbers can be finished.
  Awaitable<std::vector<TimeoutTask>> timeout_tasks() override;
  Awaitable<Done> finish_timeout_tasks(std::vector<std::string> order_nos) override;
  Awaitable<std::vector<CloseResult>> close_due(DueBatch batch) override;
  Awaitable<Instant> quarantine(OrderId id, Failure failure) override;

 private:
  struct TasksRead {
    std::vector<TimeoutTask> tasks;
    std::map<std::string, std::int64_t> last_ids;
    std::int64_t after = 0;
  };
  Awaitable<Discovered> keep_rest(Awaitable<Discovery> reading);
  Awaitable<std::vector<TimeoutTask>> keep_last_ids(Awaitable<TasksRead> reading);
  static TasksRead read_timeout_tasks(Connection& connection, std::int64_t after);

  Bulkhead& bulkhead_;
  ReminderMember member_;                         // what a reminder's member names
  const Duration enough_reading_;                 // no new page of a discovery is begun after that
  std::optional<DiscoveryPosition> rest_;         // of a discovery that was not complete
  std::map<std::string, std::int64_t> last_ids_;  // of the reminders read last, by order number
  std::int64_t tasks_after_ = 0;                  // where the next page of them begins
};

}  // namespace order_timeout::postgres
