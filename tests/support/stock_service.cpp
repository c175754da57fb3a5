#include "support/stock_service.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <thread>
#include <utility>

#include "support/stock_session.hpp"

namespace order_timeout::stock {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

std::unique_ptr<StockBooks> make_books(const StockService::Options& options) {
  if (options.database_url.empty()) return make_stock_books_in_memory();
  return make_stock_books_in_postgres(options.database_url);
}

}  // namespace

StockState::StockState(StockService::Options its_options, std::unique_ptr<StockBooks> its_books)
    : options(std::move(its_options)),
      books(std::move(its_books)),
      book_threads(static_cast<std::size_t>(options.book_threads)) {}

// Without listening: a port that is bound only refuses connections, and nobody else can have it.
bool StockState::bind() {
  ErrorCode error;
  const tcp::endpoint endpoint(asio::ip::make_address(options.host), options.port);
  acceptor_.open(endpoint.protocol());
  acceptor_.set_option(tcp::acceptor::reuse_address(true));
  acceptor_.bind(endpoint, error);
  if (error) {
    acceptor_.close();
    return false;
  }
  if (options.port == 0) options.port = acceptor_.local_endpoint().port();
  return true;
}

void StockState::open() {
  if (!bind()) {
    throw boost::system::system_error(asio::error::address_in_use,
                                      options.host + ":" + std::to_string(options.port));
  }
  come_up();
}

void StockState::set_fault(const Fault& fault, const beast::tcp_stream* spared) {
  fault_ = fault;
  calls_under_fault_ = 0;
  recovery_.cancel();
  if (fault.kind == FaultKind::down) {
    go_down(spared);
  } else if (!listening_) {
    come_up();
  }
  if (fault.lasts.count() == 0) return;
  recovery_.expires_after(fault.lasts);
  recovery_.async_wait([this](const ErrorCode& error) {
    if (!error) set_fault(Fault{}, nullptr);
  });
}

void StockState::go_down(const beast::tcp_stream* spared) {
  listening_ = false;
  acceptor_.close();
  bind();
  for (auto* session : sessions) {
    if (session != spared) session->close();
  }
}

void StockState::come_up() {
  if (!acceptor_.is_open() && !bind()) return;
  acceptor_.listen();
  listening_ = true;
  up_.cancel();
}

Fault StockState::next_fault() {
  ++calls_under_fault_;
  return calls_under_fault_ % fault_.every == 0 ? fault_ : Fault{};
}

void StockState::saw(SeenRequest request) {
  const std::lock_guard lock(mutex);
  ++calls;
  last = std::move(request);
  called.notify_all();
}

asio::awaitable<void> StockState::accept() {
  while (true) {
    if (!listening_) {
      up_.expires_at(asio::steady_timer::time_point::max());
      co_await up_.async_wait(kAwait);
      continue;
    }
    auto stream = std::make_unique<beast::tcp_stream>(loop.get_executor());
    const auto [error] = co_await acceptor_.async_accept(stream->socket(), kAwait);
    if (error) continue;
    {
      const std::lock_guard lock(mutex);
      ++connections;
    }
    asio::co_spawn(loop, serve_stock(*this, std::move(stream)), asio::detached);
  }
}

class StockService::Impl {
 public:
  explicit Impl(const Options& options) : state_(options, make_books(options)) {
    state_.open();
    asio::co_spawn(state_.loop, state_.accept(), asio::detached);
    thread_ = std::thread([this] { state_.loop.run(); });
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  ~Impl() {
    state_.loop.stop();
    thread_.join();
    state_.book_threads.join();
  }

  void set_fault(const Fault& fault) {
    auto change = [this, fault] { state_.set_fault(fault, nullptr); };
    asio::post(state_.loop, asio::use_future(std::move(change))).get();
  }

  StockState& state() { return state_; }

 private:
  StockState state_;
  std::thread thread_;
};

StockService::StockService() : StockService(Options{}) {}

StockService::StockService(Options options) : impl_(std::make_unique<Impl>(options)) {}

StockService::~StockService() = default;

std::uint16_t StockService::port() const { return impl_->state().options.port; }

std::string StockService::url() const {
  const auto& options = impl_->state().options;
  return "http://" + options.host + ":" + std::to_string(options.port) + "/stock/release";
}

void StockService::set_fault(const Fault& fault) { impl_->set_fault(fault); }

Totals StockService::totals() const { return impl_->state().books->totals(); }

std::int64_t StockService::calls(const std::string& key) const {
  return impl_->state().books->calls(key);
}

std::int64_t StockService::effects(const std::string& key) const {
  return impl_->state().books->effects(key);
}

std::int64_t StockService::connections() const {
  const std::lock_guard lock(impl_->state().mutex);
  return impl_->state().connections;
}

SeenRequest StockService::last_request() const {
  const std::lock_guard lock(impl_->state().mutex);
  return impl_->state().last;
}

bool StockService::wait_for_calls(std::int64_t count, std::chrono::milliseconds patience) const {
  auto& state = impl_->state();
  std::unique_lock lock(state.mutex);
  return state.called.wait_for(lock, patience, [&] { return state.calls >= count; });
}

}  // namespace order_timeout::stock
