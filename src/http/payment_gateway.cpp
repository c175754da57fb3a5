#include "http/payment_gateway.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <utility>

namespace order_timeout::http {
namespace {

constexpr std::string_view kPlaceholder = "{order_no}";
// Stands for the placeholder while the URL is taken apart.
constexpr std::string_view kStandIn = "%7Border_no%7D";
constexpr std::size_t kWordMax = 100;  // bytes of a status that is worth reading

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  std::size_t at = 0;
  while ((at = text.find(from, at)) != std::string::npos) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

std::optional<std::string> status_word(const std::string& body) {
  boost::system::error_code error;
  const boost::json::value document = boost::json::parse(body, error);
  if (error || !document.is_object()) return std::nullopt;
  const boost::json::value* status = document.as_object().if_contains("status");
  if (status == nullptr || !status->is_string()) return std::nullopt;
  if (status->as_string().size() > kWordMax) return std::nullopt;
  return std::string(status->as_string());
}

}  // namespace

std::string target_for(std::string_view target, std::string_view order_no) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kUnreserved = "-._~";
  std::string encoded;
  for (const char c : order_no) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || kUnreserved.find(c) != std::string_view::npos) {
      encoded += c;
      continue;
    }
    encoded += '%';
    encoded += kHex[byte >> 4U];
    encoded += kHex[byte & 0xfU];
  }
  return replaced(std::string(target), kPlaceholder, encoded);
}

GatewayAnswer read_answer(const HttpResult& result) {
  GatewayAnswer answer;
  if (const auto* failure = std::get_if<HttpFailure>(&result)) {
    answer.detail = std::string(to_string(failure->phase)) + ' ' +
                    std::string(to_string(failure->kind)) + ": " + failure->detail;
    return answer;
  }
  const auto& complete = std::get<HttpAnswer>(result);
  answer.reached = complete.status < 500;
  answer.detail = "HTTP " + std::to_string(complete.status);
  if (complete.status != 200) return answer;
  answer.word = status_word(complete.body);
  answer.detail = answer.word ? *answer.word : "HTTP 200 without a status";
  return answer;
}

Result<std::unique_ptr<PaymentGateway>> PaymentGateway::make(boost::asio::any_io_executor executor,
                                                             const PaymentCheckConfig& config) {
  const auto url = parse_url(replaced(config.url, kPlaceholder, kStandIn));
  if (!url) return url.error();
  Client::Options options;
  options.url = *url;
  options.connect_timeout = config.connect_timeout;
  options.read_timeout = config.read_timeout;
  options.idle_max = static_cast<std::size_t>(std::max(config.concurrency, 1));
  return std::unique_ptr<PaymentGateway>(
      new PaymentGateway(std::move(executor), std::move(options)));
}

PaymentGateway::PaymentGateway(boost::asio::any_io_executor executor, Client::Options options)
    : target_(replaced(options.url.target, kStandIn, kPlaceholder)),
      client_(std::move(executor), std::move(options)) {}

boost::asio::awaitable<GatewayAnswer> PaymentGateway::ask(std::string order_no) {
  HttpRequest request;
  request.method = "GET";
  request.target = target_for(target_, order_no);
  request.headers.emplace_back("Accept", "application/json");
  const HttpResult result = co_await client_.request(std::move(request));
  co_return read_answer(result);
}

}  // namespace order_timeout::http
