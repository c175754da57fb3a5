// The shop's payment gateway: one question about one order, GET, answered by {"status":"…"}.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/client.hpp"
#include "order_timeout/config.hpp"
#include "order_timeout/outcome.hpp"

namespace order_timeout::http {

struct GatewayAnswer {
  std::optional<std::string> word;  // of a complete 200 with a JSON object that has a text `status`
  bool reached = false;             // it answered, and not with 5xx
  std::string detail;               // for the log: the word, the status code or the failure
};

// How many questions run at once is the caller's to limit (PaymentCheckConfig::concurrency).
class PaymentGateway {
 public:
  // Rejected where the URL is not plain http.
  static Result<std::unique_ptr<PaymentGateway>> make(boost::asio::any_io_executor executor,
                                                      const PaymentCheckConfig& config);

  // Ends within connect_timeout + read_timeout.
  boost::asio::awaitable<GatewayAnswer> ask(std::string order_no);

 private:
  PaymentGateway(boost::asio::any_io_executor executor, Client::Options options);

  std::string target_;  // with {order_no} in it
  Client client_;
};

// `target` with the order number, every byte but unreserved ones as %XX, in place of {order_no}.
std::string target_for(std::string_view target, std::string_view order_no);
GatewayAnswer read_answer(const HttpResult& result);

}  // namespace order_timeout::http
