#include "support/shop_reminders.hpp"

#include <hiredis/hiredis.h>

#include <string_view>
#include <utility>

namespace order_timeout::shop {
namespace {

constexpr timeval kPatience{.tv_sec = 0, .tv_usec = 200'000};
constexpr std::string_view kUnix = "unix://";
constexpr std::string_view kTcp = "redis://";
constexpr int kDefaultPort = 6379;

redisContext* open(const std::string& url) {
  if (url.starts_with(kUnix)) {
    return redisConnectUnixWithTimeout(url.substr(kUnix.size()).c_str(), kPatience);
  }
  auto host = url.substr(url.starts_with(kTcp) ? kTcp.size() : 0);
  host = host.substr(0, host.find('/'));
  const auto colon = host.rfind(':');
  const int port = colon == std::string::npos ? kDefaultPort : std::stoi(host.substr(colon + 1));
  return redisConnectWithTimeout(host.substr(0, colon).c_str(), port, kPatience);
}

}  // namespace

void Reminders::Free::operator()(redisContext* context) const { redisFree(context); }

Reminders::Reminders(std::string url, std::string zset)
    : url_{std::move(url)}, zset_{std::move(zset)} {}

bool Reminders::connected() {
  if (context_) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_try_) return false;
  next_try_ = now + std::chrono::seconds{1};
  context_.reset(open(url_));
  if (!context_ || context_->err != 0 || redisSetTimeout(context_.get(), kPatience) != REDIS_OK) {
    context_.reset();
  }
  return context_ != nullptr;
}

void Reminders::remind(const std::string& order_no, Instant deadline) {
  if (url_.empty() || !connected()) return;
  const auto score = std::to_string(to_ms(deadline));
  auto* reply = static_cast<redisReply*>(redisCommand(
      context_.get(), "ZADD %s %s %s", zset_.c_str(), score.c_str(), order_no.c_str()));
  if (reply == nullptr) {
    context_.reset();
    return;
  }
  freeReplyObject(reply);
}

}  // namespace order_timeout::shop
