#include <utility>

#include "core/config_path.hpp"
#include "core/config_reading.hpp"

namespace order_timeout {
namespace {

// Values of one section by the last part of their key.
class Section {
 public:
  Section(const ConfigReading& reading, std::string path)
      : reading_(reading), path_(std::move(path)) {}

  bool has(std::string_view key) const { return find(key) != nullptr; }
  // Empty for ~ and where there is none.
  std::string text(std::string_view key) const {
    const Value* value = find(key);
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
    return text == nullptr ? std::string{} : *text;
  }
  std::int64_t number(std::string_view key) const { return get<std::int64_t>(key); }
  bool flag(std::string_view key) const { return number(key) != 0; }
  int count(std::string_view key) const { return static_cast<int>(number(key)); }
  Duration duration(std::string_view key) const { return Duration{number(key)}; }
  std::vector<std::string> texts(std::string_view key) const {
    return get<std::vector<std::string>>(key);
  }
  std::vector<std::int64_t> numbers(std::string_view key) const {
    return get<std::vector<std::int64_t>>(key);
  }
  // The enumerator that stands at the word's position in `words`.
  template <class Enum>
  Enum one_of(std::string_view key, const std::vector<std::string_view>& words) const {
    const std::string word = text(key);
    std::size_t at = 0;
    while (at < words.size() && words[at] != word) ++at;
    return static_cast<Enum>(at);
  }

 private:
  const Value* find(std::string_view key) const {
    const auto found = reading_.values.find(path_ + "." + std::string{key});
    return found == reading_.values.end() ? nullptr : &found->second.value;
  }
  template <class T>
  T get(std::string_view key) const {
    return std::get<T>(reading_.values.at(path_ + "." + std::string{key}).value);
  }

  const ConfigReading& reading_;
  std::string path_;
};

DatabaseConfig database_of(const Section& from) {
  DatabaseConfig to;
  to.url = from.text("url");
  to.connections = from.count("connections");
  to.connect_timeout = from.duration("connect_timeout");
  to.acquire_timeout = from.duration("acquire_timeout");
  to.statement_timeout = from.duration("statement_timeout");
  to.max_lifetime = from.duration("max_lifetime");
  return to;
}

OrderColumns columns_of(const Section& from) {
  OrderColumns to;
  to.id = from.text("id");
  to.order_no = from.text("order_no");
  to.user_id = from.text("user_id");
  to.business_line = from.text("business_line");
  to.status = from.text("status");
  to.created_at = from.text("created_at");
  to.version = from.text("version");
  to.deadline = from.text("deadline");
  to.amount = from.text("amount");
  to.closed_at = from.text("closed_at");
  to.paid_at = from.text("paid_at");
  return to;
}

ItemsMapping items_of(const Section& from) {
  ItemsMapping to;
  if (!from.has("table")) return to;
  to.table = from.text("table");
  to.order_id = from.text("order_id");
  to.columns = from.texts("columns");
  return to;
}

PaymentsMapping payments_of(const Section& from) {
  PaymentsMapping to;
  if (!from.has("table")) return to;
  to.table = from.text("table");
  to.id = from.text("id");
  to.order_id = from.text("order_id");
  to.status = from.text("status");
  to.amount = from.text("amount");
  to.created_at = from.text("created_at");
  to.paid = from.texts("paid");
  to.in_progress = from.texts("in_progress");
  return to;
}

OrderTableConfig order_table_of(const ConfigReading& reading) {
  const Section from{reading, "order_table"};
  const Section status{reading, "order_table.status"};
  OrderTableConfig to;
  to.name = from.text("name");
  to.columns = columns_of(Section{reading, "order_table.columns"});
  to.pending = status.text("pending");
  to.closed = status.text("closed");
  to.paid = status.text("paid");
  to.time_zone = from.text("time_zone");
  to.items = items_of(Section{reading, "order_table.items"});
  to.payments = payments_of(Section{reading, "order_table.payments"});
  return to;
}

BusinessLine line_of(const Section& from) {
  BusinessLine to;
  to.timeout = from.duration("timeout");
  to.grace = from.duration("grace");
  to.action = from.one_of<LineAction>("action", {"close", "review", "shadow", "ignore"});
  to.on_close = from.texts("on_close");
  to.payment_check = from.flag("payment_check");
  return to;
}

std::optional<RedisConfig> redis_of(const Section& from) {
  if (!from.has("url")) return std::nullopt;
  RedisConfig to;
  to.url = from.text("url");
  to.zset = from.text("zset");
  to.member = from.one_of<ReminderMember>("member", {"order_no", "id"});
  to.score = from.one_of<ScoreUnit>("score", {"milliseconds", "seconds"});
  to.poll_interval = from.duration("poll_interval");
  to.max_extension = from.duration("max_extension");
  return to;
}

std::optional<PaymentCheckConfig> payment_check_of(const Section& from) {
  if (!from.has("url")) return std::nullopt;
  PaymentCheckConfig to;
  to.url = from.text("url");
  to.connect_timeout = from.duration("connect_timeout");
  to.read_timeout = from.duration("read_timeout");
  to.concurrency = from.count("concurrency");
  to.none = from.texts("none");
  to.in_progress = from.texts("in_progress");
  to.paid = from.texts("paid");
  to.retry_after = from.duration("retry_after");
  to.max_delay = from.duration("max_delay");
  to.unknown = from.one_of<UnknownPayment>("unknown", {"defer", "hold", "close"});
  return to;
}

SinkConfig sink_of(const ConfigReading& reading, const std::string& event) {
  const std::string path = join_path("events", event);
  const Section from{reading, path};
  SinkConfig to;
  to.kind = from.one_of<SinkKind>("sink", {"http", "sql", "redis_stream"});
  to.url = from.text("url");
  to.connect_timeout = from.duration("connect_timeout");
  to.read_timeout = from.duration("read_timeout");
  to.done_codes.clear();
  for (const std::int64_t code : from.numbers("done_codes")) {
    to.done_codes.push_back(static_cast<int>(code));
  }
  for (const std::string& name : reading.events.at(event)) {
    const auto& value = reading.values.at(join_path(path + ".headers", name)).value;
    to.headers[name] = std::get<std::string>(value);
  }
  to.concurrency = from.count("concurrency");
  to.statement = from.text("statement");
  return to;
}

OutboxConfig outbox_of(const Section& from) {
  OutboxConfig to;
  for (const std::int64_t wait : from.numbers("backoff")) to.backoff.emplace_back(wait);
  to.max_attempts = from.count("max_attempts");
  to.retention = from.duration("retention");
  return to;
}

SweepConfig sweep_of(const Section& from) {
  SweepConfig to;
  to.nightly_minute_of_day = from.count("nightly");
  to.time_zone = from.text("time_zone");
  to.catch_up_interval = from.duration("catch_up_interval");
  to.window = from.count("window");
  to.page_size = from.count("page_size");
  return to;
}

void take_log(Config& to, const Section& from) {
  to.log_directory = from.text("directory");
  to.log_level = from.text("level");
  to.log_format = from.one_of<LogFormat>("format", {"text", "json"});
  to.log_max_size_bytes = from.number("max_size");
  to.log_keep = from.count("keep");
}

}  // namespace

Config build_config(const ConfigReading& reading) {
  const Section close{reading, "close"};
  Config config;
  config.database = database_of(Section{reading, "database"});
  config.order_table = order_table_of(reading);
  for (const std::string& line : reading.lines) {
    config.business_lines[line] = line_of(Section{reading, join_path("business_lines", line)});
  }
  config.redis = redis_of(Section{reading, "redis"});
  config.discovery_poll_interval = Section{reading, "discovery"}.duration("poll_interval");
  config.close_batch_size = close.count("batch_size");
  config.close_max_per_second = close.count("max_per_second");
  config.close_max_age = close.duration("max_age");
  config.max_due_by_reload = Section{reading, "guard"}.number("max_due_by_reload");
  config.clock_warn = Section{reading, "guard"}.duration("clock_warn");
  config.payment_check = payment_check_of(Section{reading, "payment_check"});
  for (const auto& [event, headers] : reading.events) {
    config.events[event] = sink_of(reading, event);
  }
  config.outbox = outbox_of(Section{reading, "outbox"});
  config.sweep = sweep_of(Section{reading, "sweep"});
  config.admin_listen = Section{reading, "admin"}.text("listen");
  config.admin_socket = Section{reading, "admin"}.text("socket");
  config.snapshot = std::get<std::string>(reading.values.at("snapshot").value);
  take_log(config, Section{reading, "log"});
  return config;
}

}  // namespace order_timeout
