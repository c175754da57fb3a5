// One attempt at one connection: hiredis behind an interface of ours, replies copied out. On the
// loop thread only.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "redis/reply.hpp"

struct redisAsyncContext;

namespace order_timeout::redis {

using Command = std::vector<std::string>;

struct Endpoint {
  std::string path;  // of a unix socket, else empty
  std::string ip;    // an address, never a name: hiredis would resolve it and block
  std::uint16_t port = 0;
};

class Link {
 public:
  struct Events {
    std::function<void()> connected;            // later, from the loop
    std::function<void(std::string why)> lost;  // at most once: refused, reset, closed, garbage
  };
  // Nothing in place of a reply: the connection went before it came.
  using OnReply = std::function<void(std::optional<Reply>)>;

  // Begins to connect and returns. Where that fails at once, error() says why and no event comes.
  Link(boost::asio::any_io_executor executor, const Endpoint& endpoint, Events events);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  // Drops the connection: no event any more, and each reply still open is answered with nothing,
  // before this returns or, inside an OnReply, after it. Not inside `connected`.
  ~Link();

  const std::string& error() const { return error_; }
  // False: the connection is going, `on_reply` will not be called.
  [[nodiscard]] bool send(const Command& command, OnReply on_reply);

 private:
  void connected(bool succeeded);
  void lost();

  boost::asio::any_io_executor executor_;
  redisAsyncContext* context_ = nullptr;  // owned until we free it or hiredis says that it is gone
  Events events_;
  std::string error_;
};

}  // namespace order_timeout::redis
