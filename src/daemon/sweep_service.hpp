// The nets below the wheel: the catch-up scan, which looks a window back every minute, and the
// nightly sweep, which looks at everything. Both only track what they find; closing has one funnel.
// One sweep_run row each.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/context.hpp"
#include "order_timeout/sweep_schedule.hpp"

namespace order_timeout::daemon {

class SweepService {
 public:
  SweepService(Context& context, SweepSchedule schedule)
      : c_(context), schedule_(std::move(schedule)) {}

  // Another nightly instant.
  void reschedule(SweepSchedule schedule) { schedule_ = std::move(schedule); }

  boost::asio::awaitable<void> catch_up();
  boost::asio::awaitable<void> nightly();
  // What operators close with order-timeoutctl, now or while no daemon ran, goes into the audit
  // log.
  boost::asio::awaitable<void> audit_manual_closes();
  // Finished events beyond outbox.retention go, in small batches.
  boost::asio::awaitable<void> retire_events();

 private:
  struct Plan {
    SweepKind kind = SweepKind::catch_up;
    Source source = Source::catch_up;
    ScanRequest request;
  };
  // Totals of one run; tracked ones may still be on their way to be closed.
  struct Found {
    std::int64_t scanned = 0;
    std::int64_t tracked = 0;
    std::int64_t too_old = 0;
    bool complete = false;
    std::string failure;
  };

  boost::asio::awaitable<bool> run(Plan plan);
  boost::asio::awaitable<Found> look(Plan plan);
  boost::asio::awaitable<void> wait_for_closing(Source source, std::int64_t target);
  Duration window() const;

  Context& c_;
  SweepSchedule schedule_;
  std::optional<Instant> last_catch_up_;
};

}  // namespace order_timeout::daemon
