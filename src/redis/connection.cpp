#include "redis/connection.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <utility>

#include "redis/classify.hpp"

namespace order_timeout::redis {
namespace {

using Clock = std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;
constexpr std::size_t kEndpointsMax = 8;

Failure unavailable(std::string detail) {
  return Failure{FailureKind::unavailable, std::move(detail), ""};
}

Failure too_late(const std::string& what, Duration limit) {
  std::string detail = what + ": no answer within " + std::to_string(limit.count()) + "ms";
  return Failure{FailureKind::timed_out, std::move(detail), ""};
}

}  // namespace

// One run(): its commands and what came back. `finished` is a timer that never fires: cancelling it
// wakes the coroutine that waits on it.
struct Connection::Call {
  Call(const asio::any_io_executor& executor, std::vector<Command> pipeline)
      : commands(std::move(pipeline)),
        finished(executor, Clock::time_point::max()),
        deadline(executor) {}

  std::vector<Command> commands;
  Replies replies;
  std::optional<Failure> failure;
  bool is_sent = false;
  bool is_finished = false;
  asio::steady_timer finished;
  asio::steady_timer deadline;
};

Connection::Connection(asio::any_io_executor executor, Result<Url> url, Options options)
    : executor_(std::move(executor)),
      url_(std::move(url)),
      options_(options),
      resolver_(executor_),
      connect_deadline_(executor_),
      reconnect_(options.reconnect),
      random_(std::random_device{}()) {}

Connection::~Connection() = default;

Awaitable<Replies> Connection::run(std::vector<Command> commands) {
  return wait_for(shared_from_this(), std::move(commands));
}

Awaitable<Replies> Connection::wait_for(std::shared_ptr<Connection> self,
                                        std::vector<Command> commands) {
  const CallPtr call = self->begin(std::move(commands));
  if (!call->is_finished) {
    auto woken = call->finished.async_wait(asio::as_tuple(asio::use_awaitable));
    co_await std::move(woken);
  }
  self->abandon(call);
  if (call->failure) co_return *call->failure;
  co_return std::move(call->replies);
}

void Connection::stop() {
  if (phase_ == Phase::stopped) return;
  phase_ = Phase::stopped;
  drop(unavailable("stopped"));
}

Connection::CallPtr Connection::begin(std::vector<Command> commands) {
  auto call = std::make_shared<Call>(executor_, std::move(commands));
  call->failure = refusal();
  if (call->failure || call->commands.empty()) {
    call->is_finished = true;
    return call;
  }
  calls_.push_back(call);
  if (phase_ == Phase::ready) {
    send(call);
  } else if (phase_ == Phase::idle) {
    connect();
  }
  return call;
}

std::optional<Failure> Connection::refusal() const {
  if (!url_) return url_.error();
  if (phase_ == Phase::stopped) return unavailable("stopped");
  if (calls_.size() >= options_.calls_max) {
    return Failure{FailureKind::overloaded, "too many calls at once", ""};
  }
  const Duration wait = reconnect_.wait_left(Clock::now());
  if (phase_ != Phase::idle || wait == Duration{0}) return std::nullopt;
  return unavailable(down_because_ + "; next try in " + std::to_string(wait.count()) + "ms");
}

// ---- connecting: resolve, try one address after the other, greet; one deadline over all of it

void Connection::connect() {
  phase_ = Phase::connecting;
  const std::uint64_t generation = ++generation_;
  connect_deadline_.expires_after(options_.connect_timeout);
  connect_deadline_.async_wait([weak = weak_from_this(), generation](ErrorCode error) {
    const auto self = weak.lock();
    if (error || !self || self->generation_ != generation) return;
    self->drop(too_late("connect", self->options_.connect_timeout));
  });
  endpoints_.clear();
  if (!url_->path.empty()) {
    endpoints_.push_back(Endpoint{url_->path, "", 0});
    try_next_endpoint("");
    return;
  }
  ErrorCode is_name;
  asio::ip::make_address(url_->host, is_name);
  if (is_name) {
    resolve();
    return;
  }
  endpoints_.push_back(Endpoint{"", url_->host, url_->port});
  try_next_endpoint("");
}

void Connection::resolve() {
  using Found = asio::ip::tcp::resolver::results_type;
  auto resolved = [weak = weak_from_this(), generation = generation_](ErrorCode error,
                                                                      Found found) {
    const auto self = weak.lock();
    if (!self || self->generation_ != generation) return;
    for (const auto& entry : found) {
      if (self->endpoints_.size() >= kEndpointsMax) break;
      self->endpoints_.push_back(
          Endpoint{"", entry.endpoint().address().to_string(), self->url_->port});
    }
    // Another one first each time, so that a dead address does not eat up every deadline.
    if (const auto count = self->endpoints_.size(); count > 1) {
      const auto first = static_cast<std::ptrdiff_t>(self->generation_ / 2 % count);
      std::ranges::rotate(self->endpoints_, self->endpoints_.begin() + first);
    }
    self->try_next_endpoint(error ? "name not resolved: " + error.message() : "no address");
  };
  resolver_.async_resolve(url_->host, std::to_string(url_->port),
                          asio::ip::resolver_base::numeric_service, std::move(resolved));
}

// `why` the one before did not do, where none is left.
void Connection::try_next_endpoint(std::string why) {
  while (!endpoints_.empty()) {
    const Endpoint endpoint = std::move(endpoints_.front());
    endpoints_.pop_front();
    const std::uint64_t generation = generation_;
    Link::Events events;
    events.connected = [weak = weak_from_this(), generation] {
      const auto self = weak.lock();
      if (self && self->generation_ == generation && self->link_) self->greet();
    };
    events.lost = [weak = weak_from_this(), generation](const std::string& reason) {
      const auto self = weak.lock();
      if (self && self->generation_ == generation) self->lost(reason);
    };
    auto link = std::make_unique<Link>(executor_, endpoint, std::move(events));
    if (link->error().empty()) {
      link_ = std::move(link);
      return;
    }
    why = link->error();
  }
  drop(unavailable("connect: " + why));
}

void Connection::lost(const std::string& why) {
  if (phase_ == Phase::connecting) {
    link_.reset();
    try_next_endpoint(why);
    return;
  }
  drop(unavailable("connection lost: " + why));
}

void Connection::greet() {
  if (phase_ != Phase::connecting) return;
  phase_ = Phase::greeting;
  std::vector<Command> commands;
  if (!url_->password.empty() || !url_->user.empty()) {
    Command auth = {"AUTH"};
    if (!url_->user.empty()) auth.push_back(url_->user);
    auth.push_back(url_->password);
    commands.push_back(std::move(auth));
  }
  if (url_->database != 0) commands.push_back({"SELECT", std::to_string(url_->database)});
  greetings_open_ = commands.size();
  if (commands.empty()) ready();
  for (const Command& command : commands) {
    const bool sent = link_->send(command, [weak = weak_from_this(), generation = generation_,
                                            name = command.front()](std::optional<Reply> reply) {
      const auto self = weak.lock();
      if (self && self->generation_ == generation) self->greeted(name, reply);
    });
    if (!sent) {
      drop(unavailable("connection is closing"));
      return;
    }
  }
}

void Connection::greeted(const std::string& command, const std::optional<Reply>& reply) {
  if (!reply) return;  // `lost` follows
  if (reply->kind == ReplyKind::error) {
    drop(classify_handshake(command, reply->text));
    return;
  }
  if (--greetings_open_ == 0) ready();
}

void Connection::ready() {
  phase_ = Phase::ready;
  connect_deadline_.cancel();
  const std::vector<CallPtr> waiting = calls_;
  for (const CallPtr& call : waiting) {
    if (!call->is_finished) send(call);
  }
}

// ---- one call

void Connection::send(const CallPtr& call) {
  call->is_sent = true;
  call->deadline.expires_after(options_.command_timeout);
  call->deadline.async_wait([weak = weak_from_this(), call](ErrorCode error) {
    const auto self = weak.lock();
    if (!error && self) self->expire(call);
  });
  for (const Command& command : call->commands) {
    const bool sent =
        link_->send(command, [weak = weak_from_this(), call](std::optional<Reply> reply) {
          if (const auto self = weak.lock()) self->take_reply(call, std::move(reply));
        });
    if (!sent) {
      drop(unavailable("connection is closing"));
      return;
    }
  }
}

void Connection::take_reply(const CallPtr& call, std::optional<Reply> reply) {
  if (call->is_finished || !reply) return;  // without a reply `lost` follows
  call->replies.push_back(std::move(*reply));
  if (call->replies.size() == call->commands.size()) settle(call);
}

void Connection::settle(const CallPtr& call) {
  const auto error = std::ranges::find(call->replies, ReplyKind::error, &Reply::kind);
  if (error == call->replies.end()) {
    reconnect_.succeeded();
    end(call, std::nullopt);
    return;
  }
  const Classified classified = classify(error->text);
  end(call, classified.failure);
  if (classified.reconnect) {
    drop(classified.failure);
  } else {
    reconnect_.succeeded();
  }
}

// The replies of a late server would come some day and be mistaken for others': the connection goes
// with the call.
void Connection::expire(const CallPtr& call) {
  if (call->is_finished) return;
  Failure late = too_late(call->commands.front().front(), options_.command_timeout);
  end(call, late);
  drop(unavailable("given up after " + late.detail));
}

void Connection::end(const CallPtr& call, std::optional<Failure> failure) {
  if (call->is_finished) return;
  call->is_finished = true;
  call->failure = std::move(failure);
  call->finished.cancel();
  call->deadline.cancel();
  std::erase(calls_, call);
}

// Its coroutine has woken up. Where it is not finished it was cancelled: a call that is sent stays
// until its reply or deadline, for replies come in order.
void Connection::abandon(const CallPtr& call) {
  if (call->is_finished) return;
  Failure cancelled = unavailable("cancelled");
  if (!call->is_sent) {
    end(call, std::move(cancelled));
    return;
  }
  call->failure = std::move(cancelled);
}

// The one way down, from every phase.
void Connection::drop(Failure failure) {
  ++generation_;
  if (phase_ != Phase::stopped) phase_ = Phase::idle;
  connect_deadline_.cancel();
  resolver_.cancel();
  endpoints_.clear();
  down_because_ = failure.detail;
  std::uniform_real_distribution<double> fraction(0.0, 1.0);
  reconnect_.failed(Clock::now(), fraction(random_));
  const std::unique_ptr<Link> going = std::move(link_);  // ends its open replies at the end
  const std::vector<CallPtr> waiting = std::exchange(calls_, {});
  for (const CallPtr& call : waiting) end(call, failure);
}

}  // namespace order_timeout::redis
