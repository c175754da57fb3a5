// From a configured event to the sink that takes it, and the small views of other parts that Daemon
// hands out.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>

#include "daemon/components.hpp"
#include "daemon/context.hpp"
#include "daemon/status_service.hpp"
#include "http/admin_server.hpp"
#include "postgres/bulkhead.hpp"

namespace order_timeout::daemon {

// Rejected where the sink cannot work as configured, saying why.
Result<std::unique_ptr<Sink>> make_sink(boost::asio::io_context& loop, postgres::Bulkhead& bulkhead,
                                        const DatabaseConfig& database, const SinkConfig& config);
http::AdminServer::Options admin_options(const Config& config);
telemetry::Log::Options log_options(const Config& config);
CloseEngine::Options engine_options(const Config& config);
ConnectionFigures connection_figures(const postgres::Bulkhead& bulkhead);
// Ready: rebuilt, and the database answers. Redis or a sink being down is degraded, not unready.
http::Readiness readiness(const Figures& figures, const Components& components);

}  // namespace order_timeout::daemon
