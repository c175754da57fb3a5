// For the tests of the stores: the close rule's database and shop, a loop, and the bulkhead with
// the stores on it, logged in as the daemon.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <utility>

#include "postgres/bulkhead.hpp"
#include "postgres/control_store.hpp"
#include "postgres/order_store.hpp"
#include "postgres/outbox_store.hpp"
#include "support/close_fixture.hpp"
#include "support/loop.hpp"
#include "support/sample_shop.hpp"

namespace order_timeout::postgres {

using namespace std::chrono_literals;

inline Config config_for(const std::string& url) {
  Config config;
  config.database.url = url;
  config.order_table = testing::sample_order_table();
  return config;
}

class StoreFixture : public testing::CloseFixture {
 protected:
  template <class T>
  T await(asio::awaitable<T> work) {
    return test::run_on(loop_, std::move(work));
  }

  Config config_ = config_for(server_.url(database_, "order_timeout_daemon"));
  asio::io_context loop_;
  Bulkhead bulkhead_{loop_.get_executor(), config_.database};
  OrderStore orders_{bulkhead_, config_};
  OutboxStore outbox_{bulkhead_};
  ControlStore control_{bulkhead_, config_};
};

}  // namespace order_timeout::postgres
