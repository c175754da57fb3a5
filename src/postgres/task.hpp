// A piece of blocking work on its way to a connection's thread and back, and the call on the loop
// that waits for it. The work goes in by value and its Result comes back by value; the call never
// leaves the loop.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "order_timeout/outcome.hpp"
#include "postgres/connection.hpp"
#include "postgres/failure.hpp"

namespace order_timeout::postgres {

namespace asio = boost::asio;

// What the reserved connections are reserved by.
enum class Use : std::uint8_t { closing, discovery, sink };

// Loop side: who waits. Answered exactly once; later answers are dropped.
class Call {
 public:
  enum class Stage : std::uint8_t { queued, running, cut };

  Call(const asio::any_io_executor& loop, Use for_use, Duration within)
      : use(for_use), deadline(within), timer(loop), wake_(loop) {
    wake_.expires_at(asio::steady_timer::time_point::max());
  }
  virtual ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool answered() const { return answered_; }
  void fail(Failure failure) {
    if (answered_) return;
    take_failure(std::move(failure));
    wake();
  }
  void wake() {
    answered_ = true;
    timer.cancel();
    wake_.cancel();
    if (when_answered) when_answered();
  }
  asio::steady_timer& waiting() { return wake_; }

  const Use use;
  const Duration deadline;
  Stage stage = Stage::queued;
  asio::steady_timer timer;             // acquire_timeout, then the deadline
  std::function<void()> when_answered;  // for a caller that is no coroutine

 protected:
  virtual void take_failure(Failure failure) = 0;

 private:
  asio::steady_timer wake_;
  bool answered_ = false;
};

template <class T>
class CallFor final : public Call {
 public:
  using Call::Call;
  void answer(Result<T> value) {
    if (answered()) return;
    result = std::move(value);
    wake();
  }
  std::optional<Result<T>> result;

 private:
  void take_failure(Failure failure) override { result = Result<T>(std::move(failure)); }
};

// Waits for the answer. A caller that is cancelled meanwhile gets timed_out; the work goes on to
// its own deadline.
template <class T>
asio::awaitable<Result<T>> answer_to(std::shared_ptr<CallFor<T>> call) {
  boost::system::error_code woken;
  if (!call->answered()) {
    co_await call->waiting().async_wait(asio::redirect_error(asio::use_awaitable, woken));
  }
  Failure cancelled{FailureKind::timed_out, "the caller was cancelled", ""};
  call->fail(std::move(cancelled));
  co_return std::move(*call->result);
}

// Thread side: what is to be done with a connection. Nothing is thrown out of it.
class Task {
 public:
  Task() = default;
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  virtual void perform(Connection& connection) = 0;
  virtual void fail(Failure failure) = 0;
  // What perform() ended with, where that was a failure.
  virtual const Failure* failure() const = 0;
  // On the loop: hands the result over.
  virtual void deliver(Call& call) = 0;
};

template <class T>
struct ValueOf {
  using type = T;
};
template <class T>
struct ValueOf<Result<T>> {
  using type = T;
};

template <class Work>
class TaskFor final : public Task {
 public:
  using Value = typename ValueOf<std::invoke_result_t<Work&, Connection&>>::type;

  explicit TaskFor(Work work) : work_(std::move(work)) {}
  void perform(Connection& connection) override {
    try {
      result_ = Result<Value>(work_(connection));
    } catch (const std::exception& error) {
      result_ = Result<Value>(classify(error));
    }
  }
  void fail(Failure failure) override { result_ = Result<Value>(std::move(failure)); }
  const Failure* failure() const override {
    return result_ && !*result_ ? &result_->error() : nullptr;
  }
  void deliver(Call& call) override {
    static_cast<CallFor<Value>&>(call).answer(std::move(*result_));
  }

 private:
  Work work_;
  std::optional<Result<Value>> result_;
};

}  // namespace order_timeout::postgres
