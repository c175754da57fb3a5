// The events of the configuration, their sinks and the services that deliver to them; all of it may
// change while the daemon runs.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/context.hpp"
#include "daemon/outbox_service.hpp"
#include "postgres/bulkhead.hpp"

namespace order_timeout::daemon {

class Deliveries {
 public:
  using Spawn = std::function<void(std::string name, boost::asio::awaitable<void> service)>;
  // Shared with the deliveries under way when a sink is replaced.
  using Sinks = std::map<std::string, std::shared_ptr<Sink>>;

  Deliveries(Context& context, postgres::Bulkhead& bulkhead, Spawn spawn)
      : c_(context), bulkhead_(bulkhead), spawn_(std::move(spawn)) {}

  // A sink an event; those in use where nothing of theirs has changed. Rejected, naming the event,
  // where one cannot work as configured.
  Result<Sinks> make_sinks(const Config& config) const;
  // For the configuration that is in force now. Events that are gone are not delivered any more:
  // they wait in the outbox.
  void take(Sinks sinks);
  // Begins to deliver.
  void start();

 private:
  void start(OutboxService& service);

  Context& c_;
  postgres::Bulkhead& bulkhead_;
  Spawn spawn_;
  bool started_ = false;
  Sinks sinks_;
  std::map<std::string, SinkConfig> configs_;  // of the sinks in use
  std::map<std::string, std::unique_ptr<OutboxService>> services_;
  std::vector<std::unique_ptr<OutboxService>> retired_;  // until they have ended
};

}  // namespace order_timeout::daemon
