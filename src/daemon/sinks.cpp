#include "daemon/sinks.hpp"

#include <utility>

#include "http/http_sink.hpp"
#include "postgres/sql_sink.hpp"

namespace order_timeout::daemon {

Result<std::unique_ptr<Sink>> make_sink(boost::asio::io_context& loop, postgres::Bulkhead& bulkhead,
                                        const DatabaseConfig& database, const SinkConfig& config) {
  switch (config.kind) {
    case SinkKind::http: {
      Result<std::unique_ptr<http::HttpSink>> sink =
          http::HttpSink::make(loop.get_executor(), config);
      if (!sink) return sink.error();
      return std::unique_ptr<Sink>(std::move(*sink));
    }
    case SinkKind::sql:
      return std::unique_ptr<Sink>(
          std::make_unique<postgres::SqlSink>(bulkhead, database, config.statement));
    case SinkKind::redis_stream:
      break;
  }
  return Failure{FailureKind::rejected, "this sink is not in this version", ""};
}

http::AdminServer::Options admin_options(const Config& config) {
  http::AdminServer::Options options;
  options.listen = config.admin_listen;
  return options;
}

telemetry::Log::Options log_options(const Config& config) {
  telemetry::Log::Options options;
  options.directory = config.log_directory;
  options.level = telemetry::parse_level(config.log_level).value_or(telemetry::Level::info);
  options.format = config.log_format;
  options.max_size_bytes = config.log_max_size_bytes;
  options.keep = config.log_keep;
  return options;
}

CloseEngine::Options engine_options(const Config& config) {
  CloseEngine::Options options;
  options.batch_size = static_cast<std::size_t>(config.close_batch_size);
  options.max_per_second = config.close_max_per_second;
  return options;
}

ConnectionFigures connection_figures(const postgres::Bulkhead& bulkhead) {
  const postgres::BulkheadCounters counters = bulkhead.counters();
  ConnectionFigures figures;
  figures.open = counters.open;
  figures.busy = counters.busy;
  figures.queued = counters.queued;
  figures.lost = counters.lost;
  figures.reconnects = counters.reconnects;
  return figures;
}

http::Readiness readiness(const Figures& figures, const Components& components) {
  if (!components.is_up(kPostgres)) return {false, "PostgreSQL is down"};
  if (!figures.rebuilt) return {false, "the rebuild is under way"};
  if (!figures.mapping_fits) return {false, "the order table has changed: closing pauses"};
  return {true, "ready"};
}

}  // namespace order_timeout::daemon
