// The connection to one Redis: made when first asked for, given up when it does not answer in time,
// made anew with backoff. One thing in it can be late, a call, and every call ends within its
// deadlines. On the loop thread only.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "order_timeout/outcome.hpp"
#include "ports.hpp"
#include "redis/link.hpp"
#include "redis/reconnect.hpp"
#include "redis/reply.hpp"
#include "redis/url.hpp"

namespace order_timeout::redis {

using Replies = std::vector<Reply>;

// Shared with the coroutines that wait for a reply: they may outlive the owner, who calls stop().
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Options {
    Duration connect_timeout{1'000};  // name, socket, AUTH and SELECT together
    Duration command_timeout{1'000};  // from writing the commands to the last reply
    std::size_t calls_max = 256;      // more at once: overloaded
    Reconnect::Options reconnect;
  };

  // Connects to nothing yet. Where `url` is a Failure every call gives that.
  Connection(asio::any_io_executor executor, Result<Url> url, Options options);
  ~Connection();

  // Sends the commands in one write and gives a reply for each, in order; an error among them is
  // classified and becomes the Failure of the whole call. While the server is down the call fails
  // at once (`unavailable`, with the reason of the loss), and the first one after the backoff tries
  // to connect. Cancelled: `unavailable`.
  Awaitable<Replies> run(std::vector<Command> commands);

  // Ends every call with `unavailable`, for good. May be called twice.
  void stop();

 private:
  enum class Phase : std::uint8_t { idle, connecting, greeting, ready, stopped };
  struct Call;
  using CallPtr = std::shared_ptr<Call>;

  static Awaitable<Replies> wait_for(std::shared_ptr<Connection> self,
                                     std::vector<Command> commands);
  CallPtr begin(std::vector<Command> commands);
  std::optional<Failure> refusal() const;

  void connect();
  void resolve();
  void try_next_endpoint(std::string why);
  void lost(const std::string& why);
  void greet();
  void greeted(const std::string& command, const std::optional<Reply>& reply);
  void ready();

  void send(const CallPtr& call);
  void take_reply(const CallPtr& call, std::optional<Reply> reply);
  void settle(const CallPtr& call);
  void expire(const CallPtr& call);
  void end(const CallPtr& call, std::optional<Failure> failure);
  void abandon(const CallPtr& call);
  void drop(Failure failure);

  asio::any_io_executor executor_;
  Result<Url> url_;
  Options options_;
  Phase phase_ = Phase::idle;
  std::uint64_t generation_ =
      0;  // of the connection: what an older one started means nothing any more
  std::unique_ptr<Link> link_;
  std::deque<Endpoint> endpoints_;  // not tried yet
  std::size_t greetings_open_ = 0;
  std::vector<CallPtr> calls_;  // unfinished; at most calls_max
  asio::ip::tcp::resolver resolver_;
  asio::steady_timer connect_deadline_;
  Reconnect reconnect_;
  std::string down_because_;
  std::minstd_rand random_;
};

}  // namespace order_timeout::redis
