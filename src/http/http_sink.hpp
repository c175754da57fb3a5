// An event as one POST with its idempotency key.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/client.hpp"
#include "order_timeout/config.hpp"
#include "ports.hpp"

namespace order_timeout::http {

// How many calls run at once is the caller's to limit (SinkConfig::concurrency); so many
// connections are kept.
class HttpSink final : public Sink {
 public:
  // Rejected where the URL is not plain http, or a header is malformed or one that the daemon sets
  // itself.
  static Result<std::unique_ptr<HttpSink>> make(asio::any_io_executor executor, SinkConfig config);

  // Ends within connect_timeout + read_timeout.
  asio::awaitable<DeliveryOutcome> deliver(OutboxEvent event) override;

 private:
  HttpSink(asio::any_io_executor executor, const Url& url, SinkConfig config);
  asio::awaitable<DeliveryOutcome> post(HttpRequest request);

  SinkConfig config_;
  std::string target_;
  Client client_;
};

// An event key as a header value: itself, but every byte that is not visible ASCII, and '%', as
// %XX, so that a payment id of the shop's cannot break out of the header and two keys never become
// one.
std::string idempotency_key(std::string_view event_key);

}  // namespace order_timeout::http
