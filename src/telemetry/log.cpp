#include "telemetry/log.hpp"

#include <chrono>
#include <utility>

#include "telemetry/log_writer.hpp"

namespace order_timeout::telemetry {
namespace {

Entry entry_of(Level level, std::string_view component, std::string_view message, Fields fields) {
  const auto now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  return {.at = Instant{now.time_since_epoch()},
          .level = level,
          .component = std::string{component},
          .message = std::string{message},
          .fields = std::move(fields)};
}

LogFile::Options file_options(const Log::Options& options, std::string_view name) {
  return {.path = options.directory + "/" + std::string{name},
          .max_size_bytes = options.max_size_bytes,
          .keep = options.keep};
}

}  // namespace

struct Log::Writer : LogWriter {
  using LogWriter::LogWriter;
};

Result<std::unique_ptr<Log>> Log::open(Options options) {
  auto main = LogFile::open(file_options(options, "order-timeoutd.log"));
  if (!main) return main.error();
  auto audit = LogFile::open(file_options(options, "audit.log"));
  if (!audit) return audit.error();
  LogWriter::Files files{.main = std::move(*main), .audit = std::move(*audit)};
  LogWriter::Options writing;
  writing.format = options.format;
  writing.also_stderr = options.also_stderr;
  auto writer = std::make_unique<Writer>(std::move(files), writing);
  return std::unique_ptr<Log>{new Log{options.level, std::move(writer)}};
}

Log::Log(Level level, std::unique_ptr<Writer> writer) : level_(level), writer_(std::move(writer)) {}

Log::~Log() = default;

void Log::write(Level level, std::string_view component, std::string_view message, Fields fields) {
  if (level < level_) return;
  writer_->write(entry_of(level, component, message, std::move(fields)));
}

void Log::debug(std::string_view component, std::string_view message, Fields fields) {
  write(Level::debug, component, message, std::move(fields));
}

void Log::info(std::string_view component, std::string_view message, Fields fields) {
  write(Level::info, component, message, std::move(fields));
}

void Log::warn(std::string_view component, std::string_view message, Fields fields) {
  write(Level::warn, component, message, std::move(fields));
}

void Log::error(std::string_view component, std::string_view message, Fields fields) {
  write(Level::error, component, message, std::move(fields));
}

void Log::change(std::string_view component, std::string_view message, Fields fields) {
  if (Level::warn < level_) return;
  Entry entry = entry_of(Level::warn, component, message, std::move(fields));
  entry.is_change = true;
  writer_->write(std::move(entry));
}

void Log::audit(std::string_view message, Fields fields) {
  audit("audit", message, std::move(fields));
}

void Log::audit(std::string_view component, std::string_view message, Fields fields) {
  writer_->audit(entry_of(Level::info, component, message, std::move(fields)));
}

void Log::reconfigure(const Options& options) {
  level_ = options.level;
  writer_->reconfigure(options.format, {options.max_size_bytes, options.keep});
}

void Log::reopen() { writer_->reopen(); }

void Log::flush() { writer_->flush(); }

std::uint64_t Log::dropped() const { return writer_->lost(); }

}  // namespace order_timeout::telemetry
