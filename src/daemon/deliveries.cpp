#include "daemon/deliveries.hpp"

#include <utility>

#include "daemon/sinks.hpp"

namespace order_timeout::daemon {

Result<Deliveries::Sinks> Deliveries::make_sinks(const Config& config) const {
  Sinks sinks;
  for (const auto& [name, sink_config] : config.events) {
    const auto known = configs_.find(name);
    if (known != configs_.end() && known->second == sink_config) {
      sinks.emplace(name, sinks_.at(name));
      continue;
    }
    Result<std::unique_ptr<Sink>> sink =
        make_sink(c_.loop, bulkhead_, config.database, sink_config);
    if (!sink) {
      return Failure{sink.error().kind, "events." + name + ": " + sink.error().detail, ""};
    }
    sinks.emplace(name, std::shared_ptr<Sink>(std::move(*sink)));
  }
  return sinks;
}

void Deliveries::take(Sinks sinks) {
  std::erase_if(retired_, [](const auto& service) { return service->ended(); });
  for (auto& [name, service] : services_) {
    if (sinks.contains(name)) continue;
    service->retire();
    retired_.push_back(std::move(service));
  }
  std::erase_if(services_, [](const auto& entry) { return entry.second == nullptr; });
  sinks_ = std::move(sinks);
  configs_ = c_.config.events;
  for (const auto& [name, sink] : sinks_) {
    const int concurrency = configs_.at(name).concurrency;
    const auto found = services_.find(name);
    if (found != services_.end()) {
      found->second->reconfigure(sink, concurrency);
      continue;
    }
    auto service = std::make_unique<OutboxService>(c_, name, sink, concurrency);
    if (started_) start(*service);
    services_.emplace(name, std::move(service));
  }
}

void Deliveries::start() {
  started_ = true;
  for (const auto& [name, service] : services_) start(*service);
}

void Deliveries::start(OutboxService& service) {
  spawn_("deliver", service.deliver_events());
  spawn_("finish", service.finish_attempts());
}

}  // namespace order_timeout::daemon
