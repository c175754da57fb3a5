// Asking the payment gateway before a close, on the lines that want it. Orders that have to be
// asked about leave their batch and wait in the wheel; a few questions are out at once, and the
// answer brings an order back: to be closed, to be asked about again, or held. Closing never waits
// for the gateway.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/context.hpp"
#include "http/payment_gateway.hpp"
#include "order_timeout/payment_policy.hpp"

namespace order_timeout::daemon {

class PaymentCheck {
 public:
  using Spawn = std::function<void(std::string name, boost::asio::awaitable<void> service)>;

  PaymentCheck(Context& context, PaymentStore& payments, Spawn spawn)
      : c_(context), payments_(payments), spawn_(std::move(spawn)) {}

  // For a configuration that is not in force yet: null where it asks nobody.
  Result<std::shared_ptr<http::PaymentGateway>> make_gateway(const Config& config) const;
  // For the configuration that is in force now.
  void take(std::shared_ptr<http::PaymentGateway> gateway);

  struct Screened {
    DueBatch batch;                  // what may be closed now
    std::optional<Failure> failure;  // the database did not say whom to ask about; batch is whole
  };
  boost::asio::awaitable<Screened> screen(DueBatch batch);
  // What the gateway said last of an order that may be closed; empty where nobody asked.
  std::string evidence(OrderId id) const;

 private:
  using Clock = std::chrono::steady_clock;
  // At most one an order is open.
  struct Question {
    CheckedOrder order;
    Source source = Source::wheel;
    bool open = false;
    bool alerted = false;
    int unknown_in_a_row = 0;
  };
  struct Cleared {
    Clock::time_point until;
    std::string word;
  };

  void forget_old_answers();
  bool is_cleared(OrderId id) const;
  bool put(const CheckedOrder& order, Source source);
  void start_asking();
  boost::asio::awaitable<void> ask_about(OrderId id);
  boost::asio::awaitable<void> act_on(OrderId id, http::GatewayAnswer answer);
  boost::asio::awaitable<http::GatewayAnswer> ask(std::string order_no);
  bool may_ask();
  void note_health(const http::GatewayAnswer& answer);
  void clear(OrderId id, std::string word);
  void ask_again(Question& question, const PaymentStep& step, const std::string& word);
  boost::asio::awaitable<void> hold(Question question, PaymentStep step, std::string word);
  void record(const Question& question, const PaymentStep& step, const std::string& detail,
              std::optional<Instant> retry_at);

  Context& c_;
  PaymentStore& payments_;
  Spawn spawn_;
  std::shared_ptr<http::PaymentGateway> gateway_;  // a question under way keeps its own
  std::optional<PaymentPolicy> policy_;
  int concurrency_ = 0;
  std::vector<std::string> lines_;  // those that want it, as the rules name them
  std::unordered_map<OrderId, Question> questions_;
  std::deque<OrderId> waiting_;  // open questions that are not out yet
  int asking_ = 0;
  bool starting_ = false;
  std::unordered_map<OrderId, Cleared> cleared_;
  std::deque<OrderId> cleared_in_order_;
  int failures_in_a_row_ = 0;
  bool probing_ = false;
  Clock::time_point not_before_;  // the breaker is open until then
};

}  // namespace order_timeout::daemon
