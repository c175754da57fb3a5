// A customer of the payment tests: pays its bills one after another on a connection and a thread of
// its own, each at its moment. How it pays is each test's own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <pqxx/pqxx>
#include <string>
#include <vector>

namespace order_timeout::testing {

using Moment = std::chrono::system_clock::time_point;

struct Bill {
  std::int64_t order_id = 0;
  Moment pay_at{};
  Moment sent_at{};
  bool taken = false;  // the database said that it is paid now
};

class PayingClient {
 public:
  explicit PayingClient(const std::string& url) : connection_(url) {}
  virtual ~PayingClient() = default;
  PayingClient(const PayingClient&) = delete;
  PayingClient& operator=(const PayingClient&) = delete;

  void owe(Bill bill) { bills_.push_back(bill); }
  const std::vector<Bill>& bills() const { return bills_; }
  const std::string& trouble() const { return trouble_; }  // empty: none

  void pay_all() {
    try {
      for (Bill& bill : bills_) {
        await_moment(bill.pay_at);
        bill.sent_at = std::chrono::system_clock::now();
        bill.taken = pay(bill.order_id);
      }
    } catch (const std::exception& error) {
      trouble_ = error.what();
    }
  }

 protected:
  virtual bool pay(std::int64_t id) = 0;

  void await_moment(Moment moment) {
    std::unique_lock lock(mutex_);
    nobody_rings_.wait_until(lock, moment, [] { return false; });
  }

  pqxx::connection connection_;

 private:
  std::vector<Bill> bills_;
  std::string trouble_;
  std::mutex mutex_;
  std::condition_variable nobody_rings_;
};

}  // namespace order_timeout::testing
