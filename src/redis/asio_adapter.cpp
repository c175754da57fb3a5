#include "redis/asio_adapter.hpp"

#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <pthread.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <memory>
#include <utility>

namespace order_timeout::redis {
namespace {

namespace asio = boost::asio;

// hiredis writes without MSG_NOSIGNAL: a server that has gone must not end the process. Holds
// SIGPIPE back on this thread and takes away the one that a write has raised.
class HeldSigpipe {
 public:
  HeldSigpipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  HeldSigpipe(const HeldSigpipe&) = delete;
  HeldSigpipe& operator=(const HeldSigpipe&) = delete;
  ~HeldSigpipe() {
    const std::timespec at_once{};
    if (!was_pending_) {
      while (sigtimedwait(&sigpipe_, nullptr, &at_once) == -1 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t sigpipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

// Shared with the waits it has started: handling a read may free the context, and with it this
// adapter's own hold on itself, before the handler returns.
class Adapter : public std::enable_shared_from_this<Adapter> {
 public:
  Adapter(asio::any_io_executor executor, redisAsyncContext* context)
      : context_(context), descriptor_(std::move(executor), context->c.fd) {}

  void hold() { self_ = shared_from_this(); }

  void want_read(bool wanted) {
    reading_ = wanted;
    arm_read();
  }

  void want_write(bool wanted) {
    writing_ = wanted;
    arm_write();
  }

  void clean_up() {
    // hiredis 0.14 has no guard against a second clean-up.
    context_->ev = {};
    context_ = nullptr;
    descriptor_.release();
    self_.reset();
  }

 private:
  // One wait per direction at most; hiredis asks again and again while one is under way.
  void arm_read() {
    if (context_ == nullptr || !reading_ || read_armed_) return;
    read_armed_ = true;
    descriptor_.async_wait(
        asio::posix::stream_descriptor::wait_read,
        [self = shared_from_this()](boost::system::error_code error) { self->readable(error); });
  }

  void arm_write() {
    if (context_ == nullptr || !writing_ || write_armed_) return;
    write_armed_ = true;
    descriptor_.async_wait(
        asio::posix::stream_descriptor::wait_write,
        [self = shared_from_this()](boost::system::error_code error) { self->writable(error); });
  }

  void readable(boost::system::error_code error) {
    read_armed_ = false;
    if (error || context_ == nullptr || !reading_) return;
    redisAsyncHandleRead(context_);
    arm_read();
  }

  void writable(boost::system::error_code error) {
    write_armed_ = false;
    if (error || context_ == nullptr || !writing_) return;
    {
      const HeldSigpipe held;
      redisAsyncHandleWrite(context_);
    }
    arm_write();
  }

  redisAsyncContext* context_;  // nothing once hiredis has cleaned up
  asio::posix::stream_descriptor descriptor_;
  std::shared_ptr<Adapter> self_;  // from attach to clean-up: hiredis holds a bare pointer
  bool reading_ = false, writing_ = false;
  bool read_armed_ = false, write_armed_ = false;
};

Adapter& adapter_of(void* hook_argument) { return *static_cast<Adapter*>(hook_argument); }

}  // namespace

void attach_to_loop(asio::any_io_executor executor, redisAsyncContext* context) {
  const auto adapter = std::make_shared<Adapter>(std::move(executor), context);
  adapter->hold();
  context->ev.data = adapter.get();
  context->ev.addRead = [](void* hooked) { adapter_of(hooked).want_read(true); };
  context->ev.delRead = [](void* hooked) { adapter_of(hooked).want_read(false); };
  context->ev.addWrite = [](void* hooked) { adapter_of(hooked).want_write(true); };
  context->ev.delWrite = [](void* hooked) { adapter_of(hooked).want_write(false); };
  context->ev.cleanup = [](void* hooked) { adapter_of(hooked).clean_up(); };
}

}  // namespace order_timeout::redis
