// Closing: the main path. A lane takes what is due, closes it in one transaction and lets the
// engine decide what follows; a few lanes run side by side. Read run_lane() for the flow.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <span>

#include "daemon/context.hpp"
#include "daemon/payment_check.hpp"

namespace order_timeout::daemon {

class CloseService {
 public:
  CloseService(Context& context, PaymentCheck& check) : c_(context), check_(check) {}

  // Runs until the daemon stops; a transaction under way is finished first.
  boost::asio::awaitable<void> run_lane();

 private:
  // A batch whose reminders have been read once more.
  struct Reread {
    DueBatch batch;
    std::map<OrderId, Reminder> reminders;
    std::optional<Failure> failure;  // the database did not say what the reminders are called
  };

  std::chrono::milliseconds until_next() const;
  boost::asio::awaitable<Reread> heed_reminders(DueBatch batch);
  boost::asio::awaitable<Reread> ready_to_close(DueBatch batch);
  void record(const DueBatch& batch, std::span<const CloseResult> results);
  CloseResult with_evidence(CloseResult result) const;
  void remember_settled(const std::map<OrderId, Reminder>& reminders,
                        std::span<const CloseResult> results);
  boost::asio::awaitable<void> act_on(CloseEngine::Verdict verdict, Failure failure);
  boost::asio::awaitable<void> set_aside(CloseEngine::Suspect suspect);
  boost::asio::awaitable<void> take_back(DueBatch batch, Failure failure);
  void report_failure(const DueBatch& batch, const Failure& failure);

  Context& c_;
  PaymentCheck& check_;
  int failures_in_a_row_ = 0;
};

}  // namespace order_timeout::daemon
