#include "daemon/payment_check.hpp"

#include <algorithm>
#include <utility>

namespace order_timeout::daemon {
namespace {

using namespace std::chrono_literals;

const std::string kGateway = "payment_check";  // as a component

// An order that is asked about rests so long in the wheel; the answer brings it back sooner.
constexpr Duration kParked = 30s;
constexpr Duration kNoRoom = 1s;
constexpr Duration kRetryHold = 1s;
constexpr std::size_t kQuestionsMax = 100'000;
constexpr auto kClearedFor = 5s;  // a "none" is believed so long
// The breaker: so many failures in a row, and for how long nobody is asked then.
constexpr int kFailuresMax = 5;
constexpr auto kFirstPause = 1s;
constexpr auto kLongestPause = 5s;

std::vector<std::string> asking_lines(const Config& config) {
  std::vector<std::string> lines;
  for (const auto& [name, line] : config.business_lines) {
    if (line.payment_check) lines.push_back(name);
  }
  return lines;
}

}  // namespace

Result<std::shared_ptr<http::PaymentGateway>> PaymentCheck::make_gateway(
    const Config& config) const {
  if (!config.payment_check) return std::shared_ptr<http::PaymentGateway>();
  auto gateway = http::PaymentGateway::make(c_.loop.get_executor(), *config.payment_check);
  if (!gateway) {
    return Failure{gateway.error().kind, "payment_check: " + gateway.error().detail, ""};
  }
  return std::shared_ptr<http::PaymentGateway>(std::move(*gateway));
}

void PaymentCheck::take(std::shared_ptr<http::PaymentGateway> gateway) {
  gateway_ = std::move(gateway);
  lines_.clear();
  if (gateway_) {
    lines_ = asking_lines(c_.config);
    policy_.emplace(*c_.config.payment_check);
    concurrency_ = c_.config.payment_check->concurrency;
    return;
  }
  for (const auto& [id, question] : questions_) c_.engine.retry_at(id, c_.clock.now());
  questions_.clear();
  waiting_.clear();
}

boost::asio::awaitable<PaymentCheck::Screened> PaymentCheck::screen(DueBatch batch) {
  Screened screened;
  screened.batch = std::move(batch);
  if (lines_.empty()) co_return screened;
  forget_old_answers();
  std::vector<OrderId> ids;
  for (const TrackedOrder& order : screened.batch.orders) ids.push_back(order.id);
  Result<std::vector<CheckedOrder>> due = co_await payments_.orders_to_check(ids, lines_);
  if (!due) {
    screened.failure = due.error();
    co_return screened;
  }
  std::unordered_map<OrderId, Source> sources;
  for (const TrackedOrder& order : screened.batch.orders) sources.emplace(order.id, order.source);
  std::unordered_map<OrderId, Instant> parked;
  const Instant now = c_.clock.now();
  for (const CheckedOrder& order : *due) {
    if (is_cleared(order.id)) continue;
    const bool asked = put(order, sources[order.id]);
    parked.emplace(order.id, now + (asked ? kParked : kNoRoom));
  }
  // Of those that need no answer any more nothing is remembered: paid meanwhile, held, extended.
  for (const OrderId id : ids) {
    const auto question = questions_.find(id);
    const bool idle = question != questions_.end() && !question->second.open;
    if (idle && !parked.contains(id)) questions_.erase(question);
  }
  c_.engine.postpone(screened.batch, parked);
  start_asking();
  co_return screened;
}

// False where there is no room for one more question.
bool PaymentCheck::put(const CheckedOrder& order, Source source) {
  if (questions_.size() >= kQuestionsMax && !questions_.contains(order.id)) return false;
  Question& question = questions_[order.id];
  question.order = order;
  question.source = source;
  if (!std::exchange(question.open, true)) waiting_.push_back(order.id);
  return true;
}

// A question that is answered at once comes back in here: the outer loop goes on then.
void PaymentCheck::start_asking() {
  if (std::exchange(starting_, true)) return;
  while (!waiting_.empty() && asking_ < concurrency_ && !c_.stop.requested()) {
    const OrderId id = waiting_.front();
    waiting_.pop_front();
    if (!questions_.contains(id)) continue;
    asking_ += 1;
    spawn_("payment check", ask_about(id));
  }
  starting_ = false;
}

boost::asio::awaitable<void> PaymentCheck::ask_about(OrderId id) {
  const auto question = questions_.find(id);
  std::string order_no = question == questions_.end() ? "" : question->second.order.order_no;
  http::GatewayAnswer answer = co_await ask(std::move(order_no));
  co_await act_on(id, std::move(answer));
  asking_ -= 1;
  start_asking();
}

boost::asio::awaitable<void> PaymentCheck::act_on(OrderId id, http::GatewayAnswer answer) {
  const auto found = questions_.find(id);
  if (found == questions_.end()) co_return;  // nobody is asked any more
  Question& question = found->second;
  const PaymentAnswer meaning = policy_->understand(answer.word);
  const Duration overdue = saturating_sub(c_.clock.now(), question.order.due);
  const PaymentStep step = policy_->next(meaning, overdue, question.unknown_in_a_row);
  question.unknown_in_a_row = meaning == PaymentAnswer::unknown ? question.unknown_in_a_row + 1 : 0;
  switch (step.action) {
    case PaymentStep::Action::close:
      clear(id, std::move(answer.detail));
      break;
    case PaymentStep::Action::ask_again:
      ask_again(question, step, answer.detail);
      break;
    case PaymentStep::Action::hold:
      co_await hold(question, step, std::move(answer.detail));
      break;
  }
}

// While the gateway keeps failing only one question at a time goes out, now and then; the others
// count as unknown at once.
boost::asio::awaitable<http::GatewayAnswer> PaymentCheck::ask(std::string order_no) {
  http::GatewayAnswer answer;
  if (!may_ask()) {
    answer.detail = "the gateway does not answer";
    co_return answer;
  }
  const std::shared_ptr<http::PaymentGateway> gateway = gateway_;
  answer = co_await gateway->ask(std::move(order_no));
  note_health(answer);
  co_return answer;
}

bool PaymentCheck::may_ask() {
  if (!gateway_) return false;
  if (failures_in_a_row_ < kFailuresMax) return true;
  if (probing_ || Clock::now() < not_before_) return false;
  probing_ = true;
  return true;
}

void PaymentCheck::note_health(const http::GatewayAnswer& answer) {
  probing_ = false;
  if (answer.reached) {
    failures_in_a_row_ = 0;
    c_.components.up(kGateway);
    return;
  }
  failures_in_a_row_ += 1;
  if (failures_in_a_row_ < kFailuresMax) return;
  const int doublings = std::min(failures_in_a_row_ - kFailuresMax, 4);
  not_before_ =
      Clock::now() + std::min<Clock::duration>(kFirstPause * (1 << doublings), kLongestPause);
  c_.components.down(kGateway, Failure{FailureKind::unavailable, answer.detail, ""},
                     "orders of the lines that ask it wait as payment_check.unknown says; the "
                     "others close on time");
}

void PaymentCheck::clear(OrderId id, std::string word) {
  questions_.erase(id);
  cleared_.insert_or_assign(id, Cleared{Clock::now() + kClearedFor, std::move(word)});
  cleared_in_order_.push_back(id);
  c_.engine.retry_at(id, c_.clock.now());
  c_.due.ring();
}

bool PaymentCheck::is_cleared(OrderId id) const {
  const auto found = cleared_.find(id);
  return found != cleared_.end() && Clock::now() < found->second.until;
}

void PaymentCheck::forget_old_answers() {
  while (!cleared_in_order_.empty() && !is_cleared(cleared_in_order_.front())) {
    cleared_.erase(cleared_in_order_.front());
    cleared_in_order_.pop_front();
  }
}

std::string PaymentCheck::evidence(OrderId id) const {
  const auto found = cleared_.find(id);
  return found == cleared_.end() ? "" : "gateway=" + found->second.word;
}

void PaymentCheck::ask_again(Question& question, const PaymentStep& step, const std::string& word) {
  const Instant at = c_.clock.now() + step.wait;
  question.open = false;
  record(question, step, "gateway=" + word, at);
  if (step.alert && !std::exchange(question.alerted, true)) {
    c_.log.error("payment", "the gateway gives no answer about an order for too long",
                 {{"order_no", question.order.order_no},
                  {"order_id", question.order.id},
                  {"cause", word},
                  {"next_try", at}});
  }
  c_.engine.retry_at(question.order.id, at);
}

boost::asio::awaitable<void> PaymentCheck::hold(Question question, PaymentStep step,
                                                std::string word) {
  const OrderId id = question.order.id;
  const std::string reason = "gateway=" + word;
  Result<std::string> held = co_await payments_.hold_for_payment(id, reason);
  if (!held) {
    const auto found = questions_.find(id);
    if (found != questions_.end()) found->second.open = false;
    c_.engine.retry_at(id, c_.clock.now() + kRetryHold);
    co_return;
  }
  questions_.erase(id);
  c_.engine.untrack(id);
  if (*held != "held") co_return;  // paid, closed or held by somebody else meanwhile
  record(question, step, reason, std::nullopt);
  c_.log.error("payment", "order held: a person has to look",
               {{"order_no", question.order.order_no},
                {"order_id", id},
                {"reason", std::string(to_string(step.outcome))},
                {"cause", reason}});
}

void PaymentCheck::record(const Question& question, const PaymentStep& step,
                          const std::string& detail, std::optional<Instant> retry_at) {
  CloseResult result;
  result.id = question.order.id;
  result.outcome = step.outcome;
  result.order_no = question.order.order_no;
  result.business_line = question.order.business_line;
  result.due = question.order.due;
  result.retry_at = retry_at;
  result.detail = detail;
  c_.audit.decided(result, question.source, c_.clock.now());
  c_.metrics.decided(result.outcome, result.business_line, question.source, Duration{0});
}

}  // namespace order_timeout::daemon
