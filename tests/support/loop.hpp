// Runs one awaitable on a test's loop, on the test's own thread, and gives what it gave.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace order_timeout::test {

template <class T>
struct Outcome {
  std::optional<T> value;
  std::exception_ptr thrown;

  bool is_there() const { return value || thrown; }
};

template <class T>
boost::asio::awaitable<void> keep_outcome(boost::asio::awaitable<T> work,
                                          std::shared_ptr<Outcome<T>> outcome) {
  outcome->value.emplace(co_await std::move(work));
}

// Starts `work`; the outcome fills while the loop runs.
template <class T>
std::shared_ptr<Outcome<T>> start_on(boost::asio::io_context& loop,
                                     boost::asio::awaitable<T> work) {
  auto outcome = std::make_shared<Outcome<T>>();
  boost::asio::co_spawn(loop, keep_outcome(std::move(work), outcome),
                        [outcome](std::exception_ptr error) { outcome->thrown = error; });
  return outcome;
}

// Runs the loop until `condition` holds; false where it does not within `limit`.
template <class Condition>
bool run_until(boost::asio::io_context& loop, Condition condition,
               std::chrono::milliseconds limit = std::chrono::seconds(20)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition() && std::chrono::steady_clock::now() < end) {
    loop.restart();
    loop.run_one_until(end);
  }
  return condition();
}

// Throws what `work` throws, and std::runtime_error where it is not done within `limit`. What else
// the loop has to do goes on meanwhile and stays for the next time.
template <class T>
T run_on(boost::asio::io_context& loop, boost::asio::awaitable<T> work,
         std::chrono::milliseconds limit = std::chrono::seconds(20)) {
  const auto outcome = start_on(loop, std::move(work));
  run_until(
      loop, [&] { return outcome->is_there(); }, limit);
  if (outcome->thrown) std::rethrow_exception(outcome->thrown);
  if (!outcome->value) throw std::runtime_error("not done in time");
  return std::move(*outcome->value);
}

}  // namespace order_timeout::test
