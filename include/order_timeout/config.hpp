// The configuration as the rest of the daemon sees it: nested plain structs, every value present,
// valid and in our units. Keys, types, defaults, ranges and sentences stand in the schema table
// (src/core/config_schema.cpp), which the parser, --print-config, the example file and the README
// follow.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "order_timeout/time.hpp"

namespace order_timeout {

enum class LineAction : std::uint8_t { close, review, shadow, ignore };
enum class ReminderMember : std::uint8_t { order_no, id };
enum class ScoreUnit : std::uint8_t { milliseconds, seconds };
enum class SinkKind : std::uint8_t { http, sql, redis_stream };
// What an answer of the payment gateway that is none of the configured words does.
enum class UnknownPayment : std::uint8_t { defer, hold, close };
enum class LogFormat : std::uint8_t { text, json };

struct DatabaseConfig {
  std::string url;
  std::string read_url;  // empty: none
  int connections = 4;
  Duration connect_timeout{3'000};
  Duration acquire_timeout{2'000};
  Duration statement_timeout{5'000};
  Duration max_lifetime{1'800'000};

  friend bool operator==(const DatabaseConfig&, const DatabaseConfig&) = default;
};

// The shop's names, unquoted, as the user wrote them. An empty optional column is not mapped.
struct OrderColumns {
  std::string id = "id";
  std::string order_no = "order_no";
  std::string user_id = "user_id";
  std::string business_line = "biz_line";
  std::string status = "status";
  std::string created_at = "created_at";
  std::string version = "version";
  std::string deadline;
  std::string amount = "amount_cents";
  std::string closed_at = "closed_at";
  std::string paid_at;

  friend bool operator==(const OrderColumns&, const OrderColumns&) = default;
};

struct ItemsMapping {
  std::string table;  // empty: no items in the payload
  std::string order_id = "order_id";
  std::vector<std::string> columns;

  friend bool operator==(const ItemsMapping&, const ItemsMapping&) = default;
};

struct PaymentsMapping {
  std::string table;  // empty: no payment table
  std::string id, order_id, status, amount, created_at;
  std::vector<std::string> paid, in_progress;

  friend bool operator==(const PaymentsMapping&, const PaymentsMapping&) = default;
};

struct OrderTableConfig {
  std::string name;  // [schema.]table
  OrderColumns columns;
  std::string pending = "WAIT_PAY", closed = "CLOSED", paid = "PAID";
  std::string time_zone = "UTC";
  ItemsMapping items;
  PaymentsMapping payments;

  friend bool operator==(const OrderTableConfig&, const OrderTableConfig&) = default;
};

struct BusinessLine {
  Duration timeout{1'800'000};
  Duration grace{60'000};
  LineAction action = LineAction::close;
  std::vector<std::string> on_close{"release_stock"};  // keys of `events`
  bool payment_check = false;

  friend bool operator==(const BusinessLine&, const BusinessLine&) = default;
};

struct RedisConfig {
  std::string url = "redis://127.0.0.1:6379/0";
  std::string zset = "delay:close:order";
  ReminderMember member = ReminderMember::order_no;
  ScoreUnit score = ScoreUnit::milliseconds;
  Duration poll_interval{500};
  Duration max_extension{86'400'000};

  friend bool operator==(const RedisConfig&, const RedisConfig&) = default;
};

struct PaymentCheckConfig {
  std::string url;  // http, with {order_no} in it
  Duration connect_timeout{500};
  Duration read_timeout{1'500};
  int concurrency = 16;
  std::vector<std::string> none, in_progress, paid;
  Duration retry_after{5'000};
  Duration max_delay{600'000};
  UnknownPayment unknown = UnknownPayment::defer;

  friend bool operator==(const PaymentCheckConfig&, const PaymentCheckConfig&) = default;
};

struct SinkConfig {
  SinkKind kind = SinkKind::http;
  std::string url;
  Duration connect_timeout{500};
  Duration read_timeout{1'500};
  std::vector<int> done_codes{409};
  std::map<std::string, std::string> headers;  // values may be secrets
  int concurrency = 16;
  std::string statement;  // sql

  friend bool operator==(const SinkConfig&, const SinkConfig&) = default;
};

struct OutboxConfig {
  std::vector<Duration> backoff;  // never empty; the last one repeats
  int max_attempts = 10;
  Duration retention{7LL * 86'400'000};

  friend bool operator==(const OutboxConfig&, const OutboxConfig&) = default;
};

struct SweepConfig {
  int nightly_minute_of_day = 3 * 60;
  std::string time_zone = "Asia/Shanghai";
  Duration catch_up_interval{60'000};
  int window = 2;
  int page_size = 500;

  friend bool operator==(const SweepConfig&, const SweepConfig&) = default;
};

struct Config {
  DatabaseConfig database;
  OrderTableConfig order_table;
  std::map<std::string, BusinessLine>
      business_lines;  // `default` is one of them, where there is one
  std::optional<RedisConfig> redis;
  Duration discovery_poll_interval{1'000};
  int close_batch_size = 500;
  int close_max_per_second = 0;  // 0: no limit
  Duration close_max_age{30LL * 86'400'000};
  std::int64_t max_due_by_reload = 1'000;
  Duration clock_warn{50};
  std::optional<PaymentCheckConfig> payment_check;
  std::map<std::string, SinkConfig>
      events;  // key, e.g. release_stock; event_type is the key in upper case
  OutboxConfig outbox;
  SweepConfig sweep;
  std::string admin_listen = "127.0.0.1:9478";  // host:port
  std::string admin_socket = "/run/order-timeoutd/control.sock";
  std::string log_directory = "/var/log/order-timeoutd";
  std::string log_level = "info";  // trace | debug | info | warn | error
  LogFormat log_format = LogFormat::text;
  std::int64_t log_max_size_bytes = 100'000'000;
  int log_keep = 14;
  std::string snapshot = "/var/lib/order-timeoutd/last-good.yaml";

  friend bool operator==(const Config&, const Config&) = default;
};

// One thing wrong with a configuration. Line and column count from 1; 0 where there is no place in
// a file (a --set or an environment variable, named in `source`).
struct ConfigError {
  std::string source;  // file name, "--set", or the environment variable's name
  int line = 0;
  int column = 0;
  std::string key;      // dotted path, e.g. business_lines.flash_sale.timeout
  std::string message;  // what was found and what is allowed
};

// "FILE:LINE:COLUMN: KEY: MESSAGE"
std::string to_string(const ConfigError& error);

// The outbox's name for a configured event: release_stock -> RELEASE_STOCK.
std::string event_type_of(const std::string& event_key_in_config);

}  // namespace order_timeout
