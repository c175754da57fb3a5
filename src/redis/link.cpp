#include "redis/link.hpp"

#include <hiredis/async.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <memory>
#include <utility>

#include "redis/asio_adapter.hpp"

namespace order_timeout::redis {
namespace {

ReplyKind kind_of(int type) {
  switch (type) {
    case REDIS_REPLY_STRING:
      return ReplyKind::text;
    case REDIS_REPLY_ARRAY:
      return ReplyKind::array;
    case REDIS_REPLY_INTEGER:
      return ReplyKind::integer;
    case REDIS_REPLY_NIL:
      return ReplyKind::nothing;
    case REDIS_REPLY_STATUS:
      return ReplyKind::status;
    case REDIS_REPLY_ERROR:
      return ReplyKind::error;
    default:
      return ReplyKind::other;
  }
}

// hiredis refuses replies nested deeper than nine arrays, so the recursion is bounded.
Reply copy_of(const redisReply& reply) {
  Reply copy;
  copy.kind = kind_of(reply.type);
  copy.integer = reply.integer;
  if (reply.str != nullptr) copy.text.assign(reply.str, std::min<std::size_t>(reply.len, kTextMax));
  if (copy.kind == ReplyKind::array) {
    copy.elements.reserve(reply.elements);
    for (std::size_t i = 0; i < reply.elements; ++i) {
      copy.elements.push_back(copy_of(*reply.element[i]));
    }
  }
  return copy;
}

void deliver(redisAsyncContext*, void* reply, void* on_reply) {
  const std::unique_ptr<Link::OnReply> waiting(static_cast<Link::OnReply*>(on_reply));
  if (reply == nullptr) {
    (*waiting)(std::nullopt);
  } else {
    (*waiting)(copy_of(*static_cast<const redisReply*>(reply)));
  }
}

redisAsyncContext* open(const Endpoint& endpoint) {
  if (!endpoint.path.empty()) return redisAsyncConnectUnix(endpoint.path.c_str());
  return redisAsyncConnect(endpoint.ip.c_str(), endpoint.port);
}

}  // namespace

Link::Link(boost::asio::any_io_executor executor, const Endpoint& endpoint, Events events)
    : executor_(std::move(executor)), context_(open(endpoint)), events_(std::move(events)) {
  if (context_ == nullptr) {
    error_ = "out of memory";
    return;
  }
  if (context_->err != 0) {
    error_ = context_->errstr;
    redisAsyncFree(std::exchange(context_, nullptr));
    return;
  }
  context_->data = this;
  attach_to_loop(executor_, context_);
  redisAsyncSetDisconnectCallback(context_, [](const redisAsyncContext* context, int) {
    if (context->data != nullptr) static_cast<Link*>(context->data)->lost();
  });
  redisAsyncSetConnectCallback(context_, [](const redisAsyncContext* context, int status) {
    if (context->data != nullptr) static_cast<Link*>(context->data)->connected(status == REDIS_OK);
  });
}

Link::~Link() {
  if (context_ == nullptr) return;
  context_->data = nullptr;
  redisAsyncFree(context_);
}

// A failed connect is freed by hiredis as soon as this returns. A context must not be freed from
// here (0.14 would use it after), so the news of a good one goes through the loop.
void Link::connected(bool succeeded) {
  if (!succeeded) {
    lost();
    return;
  }
  if (events_.connected) boost::asio::post(executor_, std::exchange(events_.connected, nullptr));
}

void Link::lost() {
  redisAsyncContext* const context = std::exchange(context_, nullptr);
  context->data = nullptr;
  const auto tell = std::exchange(events_.lost, nullptr);  // it may destroy this Link
  const bool named = context->err != 0 || context->c.err != 0;
  const std::string why = named ? context->c.errstr : "connection closed";
  if (tell) tell(why);
}

bool Link::send(const Command& command, OnReply on_reply) {
  if (context_ == nullptr) return false;
  std::vector<const char*> words;
  std::vector<std::size_t> lengths;
  for (const std::string& word : command) {
    words.push_back(word.data());
    lengths.push_back(word.size());
  }
  auto waiting = std::make_unique<OnReply>(std::move(on_reply));
  const int sent =
      redisAsyncCommandArgv(context_, deliver, waiting.get(), static_cast<int>(words.size()),
                            words.data(), lengths.data());
  if (sent != REDIS_OK) return false;
  static_cast<void>(waiting.release());  // deliver() takes it back
  return true;
}

}  // namespace order_timeout::redis
