#include "daemon/watch_service.hpp"

#include <utility>

namespace order_timeout::daemon {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kInterval = 2s;
constexpr auto kRecent = 60s;
constexpr int kPage = 1'000;
constexpr int kRecentPagesMax = 20;  // what more was closed in a minute is the round's
constexpr std::int64_t kEventsAtStart = 10'000;
constexpr auto kNoticeInterval = 1s;
constexpr int kNotices = 500;

}  // namespace

boost::asio::awaitable<void> WatchService::watch_closed() {
  while (!c_.stop.requested()) {
    const bool marked = co_await mark_newest();
    if (marked) co_await look_at_recent();
    if (marked) co_await look_further();
    co_await c_.stop.sleep(kInterval);
  }
}

// Marks younger than kRecent, and one that is older: from there on closes are recent.
boost::asio::awaitable<bool> WatchService::mark_newest() {
  const std::int64_t behind = marks_.empty() ? kEventsAtStart : 0;
  Result<WatchPosition> newest = co_await payments_.newest(behind);
  if (!newest) co_return false;  // discovery reports a database that is down
  marks_.push_back({Clock::now(), std::move(*newest)});
  while (marks_.size() > 1 && Clock::now() - marks_[1].at > kRecent) marks_.pop_front();
  co_return true;
}

boost::asio::awaitable<void> WatchService::look_at_recent() {
  WatchPosition from = marks_.front().position;
  for (int pages = 0; pages < kRecentPagesMax && !c_.stop.requested(); ++pages) {
    Result<WatchedPage> page = co_await payments_.watch(from, kPage);
    if (!page) {
      c_.log.warn("watch", "closed orders not looked at", {{"cause", page.error().detail}});
      co_return;
    }
    if (!page->next || !page->next->among_events) co_return;
    from = *page->next;
  }
}

boost::asio::awaitable<void> WatchService::look_further() {
  Result<WatchedPage> page = co_await payments_.watch(round_, kPage);
  if (page) round_ = page->next.value_or(WatchPosition{});
}

boost::asio::awaitable<void> WatchService::tell_notices() {
  while (!c_.stop.requested()) {
    const bool more = co_await tell_some();
    if (!more) co_await c_.stop.sleep(kNoticeInterval);
  }
}

// Told first and noted then: a daemon that ends in between tells them once more.
boost::asio::awaitable<bool> WatchService::tell_some() {
  Result<std::vector<Notice>> notices = co_await payments_.notices(kNotices);
  if (!notices || notices->empty()) co_return false;
  std::vector<std::int64_t> ids;
  for (const Notice& notice : *notices) {
    c_.audit.noticed(notice);
    if (notice.kind == "refund") warn_without_a_sink();
    ids.push_back(notice.id);
  }
  track(*notices);
  c_.events.ring();
  Result<Done> noted = co_await payments_.notices_told(std::move(ids));
  if (!noted) c_.log.warn("watch", "told once more later", {{"cause", noted.error().detail}});
  co_return noted && notices->size() == kNotices;
}

void WatchService::warn_without_a_sink() {
  if (c_.config.events.contains("refund") || warned_) return;
  warned_ = true;
  c_.log.warn("payment", "refunds wait in the outbox: there is no event to take them",
              {{"remedy", "configure events.refund"}});
}

void WatchService::track(std::span<const Notice> notices) {
  bool any = false;
  for (const Notice& notice : notices) {
    if (!notice.waits || notice.kind == "held") continue;
    c_.engine.track(*notice.waits);
    any = true;
  }
  if (any) c_.due.ring();
}

}  // namespace order_timeout::daemon
