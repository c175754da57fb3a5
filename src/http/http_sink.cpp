#include "http/http_sink.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <optional>

#include "http/delivery_table.hpp"

namespace order_timeout::http {
namespace {

constexpr std::array<std::string_view, 7> kOwnHeaders{
    "host",         "content-length",  "transfer-encoding", "connection",
    "content-type", "idempotency-key", "user-agent"};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_token(std::string_view name) {
  constexpr std::string_view kPunctuation = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [kPunctuation](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           kPunctuation.find(c) != std::string_view::npos;
  });
}

bool is_header_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

// What is wrong with a configured header. Its value may be a secret and is never repeated.
std::optional<std::string> header_fault(const std::string& name, const std::string& value) {
  if (!is_token(name)) return "a header has a name that HTTP does not allow";
  const std::string word = lower(name);
  if (std::find(kOwnHeaders.begin(), kOwnHeaders.end(), word) != kOwnHeaders.end()) {
    return "the header " + word + " is set by the daemon";
  }
  if (!is_header_value(value)) return "the header " + word + " has a control character in it";
  return std::nullopt;
}

Client::Options client_options(const Url& url, const SinkConfig& config) {
  Client::Options options;
  options.url = url;
  options.connect_timeout = config.connect_timeout;
  options.read_timeout = config.read_timeout;
  options.idle_max = static_cast<std::size_t>(std::max(config.concurrency, 1));
  return options;
}

std::int64_t wall_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

}  // namespace

Result<std::unique_ptr<HttpSink>> HttpSink::make(asio::any_io_executor executor,
                                                 SinkConfig config) {
  const auto url = parse_url(config.url);
  if (!url) return url.error();
  for (const auto& [name, value] : config.headers) {
    if (auto fault = header_fault(name, value)) {
      return Failure{FailureKind::rejected, std::move(*fault), {}};
    }
  }
  return std::unique_ptr<HttpSink>(new HttpSink(std::move(executor), *url, std::move(config)));
}

HttpSink::HttpSink(asio::any_io_executor executor, const Url& url, SinkConfig config)
    : config_(std::move(config)),
      target_(url.target),
      client_(std::move(executor), client_options(url, config_)) {}

asio::awaitable<DeliveryOutcome> HttpSink::deliver(OutboxEvent event) {
  HttpRequest request;
  request.target = target_;
  request.headers.assign(config_.headers.begin(), config_.headers.end());
  request.headers.emplace_back("Content-Type", "application/json");
  request.headers.emplace_back("Idempotency-Key", idempotency_key(event.event_key));
  request.body = std::move(event.body);
  return post(std::move(request));
}

asio::awaitable<DeliveryOutcome> HttpSink::post(HttpRequest request) {
  const HttpResult result = co_await client_.request(std::move(request));
  co_return classify(result, config_.done_codes, wall_seconds());
}

std::string idempotency_key(std::string_view event_key) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string key;
  key.reserve(event_key.size());
  for (const char c : event_key) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '%') {
      key += c;
      continue;
    }
    key += '%';
    key += kHex[byte >> 4U];
    key += kHex[byte & 0xfU];
  }
  return key;
}

}  // namespace order_timeout::http
