// Who is measured. All go by order id, hold id, version and due instant, and let go of an order
// that has fired. fired(id, due) is called for every order that falls due.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "order_timeout/wheel.hpp"
#include "workload.hpp"

namespace bench {

class OurWheel {
 public:
  explicit OurWheel(std::uint64_t) {}

  void schedule(Id id, Ms due) { wheel_.schedule(order(id, due)); }
  void move(Id id, Ms due) { wheel_.schedule(order(id, due)); }
  void cancel(Id id) { wheel_.cancel(id); }
  template <class Fired>
  void advance(Ms now, Fired&& fired) {
    constexpr std::size_t kAll = 1'000'000'000;
    for (const auto& one : wheel_.advance(kStart + order_timeout::Duration{now}, {.orders = kAll}))
      fired(one.id, static_cast<Ms>((one.due - kStart).count()));
  }
  order_timeout::TimingWheel& wheel() { return wheel_; }

  static order_timeout::TrackedOrder order(Id id, Ms due) {
    return {.id = id, .due = kStart + order_timeout::Duration{due}, .version = 1};
  }

  static constexpr order_timeout::Instant kStart =
      order_timeout::instant_from_ms(1'796'000'000'123);

 private:
  order_timeout::TimingWheel wheel_{kStart};
};

// The same, given its orders in batches of 256, as they are discovered and settled.
class OurWheelInBatches : public OurWheel {
 public:
  using OurWheel::OurWheel;

  void schedule(Id id, Ms due) {
    orders_.push_back(order(id, due));
    if (orders_.size() == kBatch) flush();
  }
  void move(Id id, Ms due) { schedule(id, due); }
  void cancel(Id id) {
    ids_.push_back(id);
    if (ids_.size() == kBatch) flush();
  }
  template <class Fired>
  void advance(Ms now, Fired&& fired) {
    flush();
    OurWheel::advance(now, fired);
  }

 private:
  static constexpr std::size_t kBatch = 256;

  void flush() {
    if (!orders_.empty()) wheel().schedule(orders_);
    if (!ids_.empty()) wheel().cancel(ids_);
    orders_.clear();
    ids_.clear();
  }

  std::vector<order_timeout::TrackedOrder> orders_;
  std::vector<Id> ids_;
};

// The yardstick: the classic hierarchical wheel, eight levels of 256 slots, each a doubly linked
// list of orders that cascade down when the level below has gone round, with a hash map from ids to
// orders. As good as it gets: orders are in an array made beforehand, the map is reserved.
class LinkedWheel {
 public:
  explicit LinkedWheel(std::uint64_t orders) : orders_(orders) {
    by_id_.reserve(orders);
    for (auto& level : levels_) {
      for (Link& slot : level) slot.next = slot.previous = &slot;
    }
    for (std::uint64_t i = orders; i > 0; --i) {
      orders_[i - 1].next = free_;
      free_ = &orders_[i - 1];
    }
  }

  void schedule(Id id, Ms due) {
    Order* order = static_cast<Order*>(free_);
    free_ = order->next;
    order->id = id;
    order->due = due;
    order->version = 1;
    by_id_.emplace(id, order);
    link(*order);
  }
  void move(Id id, Ms due) {
    Order& order = *by_id_.find(id)->second;
    unlink(order);
    order.due = due;
    link(order);
  }
  void cancel(Id id) {
    const auto found = by_id_.find(id);
    Order& order = *found->second;
    by_id_.erase(found);
    unlink(order);
    release(order);
  }
  template <class Fired>
  void advance(Ms now, Fired&& fired) {
    while (now_ < now) {
      now_ += 1;
      for (std::size_t level = 1; level < 8 && now_ % (Ms{1} << (8 * level)) == 0; ++level) {
        cascade(levels_[level][now_ >> (8 * level) & 255]);
      }
      Link& slot = levels_[0][now_ & 255];
      while (slot.next != &slot) {
        Order& order = *static_cast<Order*>(slot.next);
        unlink(order);
        fired(order.id, order.due);
        by_id_.erase(by_id_.find(order.id));
        release(order);
      }
    }
  }

 private:
  struct Link {
    Link* next;
    Link* previous;
  };
  struct Order : Link {
    Ms due;
    Id id;
    std::int32_t version;
  };
  static_assert(sizeof(Order) == 40);

  void link(Order& order) {
    const Ms differs = order.due ^ now_;
    const std::size_t level =
        differs == 0 ? 0 : static_cast<std::size_t>(std::bit_width(differs) - 1) / 8;
    Link& slot = levels_[level][order.due >> (8 * level) & 255];
    order.previous = slot.previous;
    order.next = &slot;
    slot.previous->next = &order;
    slot.previous = &order;
  }
  static void unlink(Order& order) {
    order.previous->next = order.next;
    order.next->previous = order.previous;
  }
  void release(Order& order) {
    order.next = free_;
    free_ = &order;
  }
  void cascade(Link& slot) {
    Link* link_at = slot.next;
    slot.next = slot.previous = &slot;
    while (link_at != &slot) {
      Link* next = link_at->next;
      link(*static_cast<Order*>(link_at));
      link_at = next;
    }
  }

  std::vector<Order> orders_;
  Link* free_ = nullptr;
  std::array<std::array<Link, 256>, 8> levels_;
  absl::flat_hash_map<Id, Order*> by_id_;
  Ms now_ = 0;
};

class Multimap {
 public:
  explicit Multimap(std::uint64_t orders) { by_id_.reserve(orders); }

  void schedule(Id id, Ms due) { by_id_.emplace(id, by_due_.emplace(due, id)); }
  void move(Id id, Ms due) {
    const auto found = by_id_.find(id);
    by_due_.erase(found->second);
    found->second = by_due_.emplace(due, id);
  }
  void cancel(Id id) {
    const auto found = by_id_.find(id);
    by_due_.erase(found->second);
    by_id_.erase(found);
  }
  template <class Fired>
  void advance(Ms now, Fired&& fired) {
    while (!by_due_.empty() && by_due_.begin()->first <= now) {
      fired(by_due_.begin()->second, by_due_.begin()->first);
      by_id_.erase(by_due_.begin()->second);
      by_due_.erase(by_due_.begin());
    }
  }

 private:
  std::multimap<Ms, Id> by_due_;
  absl::flat_hash_map<Id, std::multimap<Ms, Id>::iterator> by_id_;
};

// A binary heap whose cancelled and moved entries stay until they come up.
class Heap {
 public:
  explicit Heap(std::uint64_t orders) { due_of_.reserve(orders); }

  void schedule(Id id, Ms due) {
    due_of_.emplace(id, due);
    heap_.emplace(due, id);
  }
  void move(Id id, Ms due) {
    due_of_.find(id)->second = due;
    heap_.emplace(due, id);
  }
  void cancel(Id id) { due_of_.erase(id); }
  template <class Fired>
  void advance(Ms now, Fired&& fired) {
    while (!heap_.empty() && heap_.top().first <= now) {
      const auto [due, id] = heap_.top();
      heap_.pop();
      const auto found = due_of_.find(id);
      if (found == due_of_.end() || found->second != due) continue;
      due_of_.erase(found);
      fired(id, due);
    }
  }

 private:
  using Entry = std::pair<Ms, Id>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
  absl::flat_hash_map<Id, Ms> due_of_;
};

// A clock that the benchmark moves.
struct SteppedClock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SteppedClock>;
  static constexpr bool is_steady = true;
  static time_point now() { return time_point{duration{static_cast<rep>(now_ms)}}; }
  inline static Ms now_ms = 0;
};

class AsioTimers {
 public:
  explicit AsioTimers(std::uint64_t orders) { timers_.reserve(orders); }

  void schedule(Id id, Ms due) {
    auto timer = std::make_unique<Timer>(context_);
    wait(*timer, id, due);
    timers_.emplace(id, std::move(timer));
  }
  void move(Id id, Ms due) { wait(*timers_.find(id)->second, id, due); }
  void cancel(Id id) { timers_.erase(id); }
  template <class Fired>
  void advance(Ms now, Fired&& fired) {
    SteppedClock::now_ms = now;
    context_.restart();
    context_.poll();
    for (const auto& [id, due] : fired_) {
      timers_.erase(id);
      fired(id, due);
    }
    fired_.clear();
  }

 private:
  using Timer = boost::asio::basic_waitable_timer<SteppedClock>;

  void wait(Timer& timer, Id id, Ms due) {
    timer.expires_at(SteppedClock::time_point{SteppedClock::duration{due}});
    timer.async_wait([this, id, due](const boost::system::error_code& error) {
      if (!error) fired_.emplace_back(id, due);
    });
  }

  boost::asio::io_context context_;
  std::vector<std::pair<Id, Ms>> fired_;
  absl::flat_hash_map<Id, std::unique_ptr<Timer>> timers_;
};

}  // namespace bench
