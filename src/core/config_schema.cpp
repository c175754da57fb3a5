#include "core/config_schema.hpp"

#include <array>

namespace order_timeout {
namespace {

using Type = ValueType;

constexpr std::int64_t kSecond = 1'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kLongest = 400 * kDay;
constexpr std::int64_t kOldest = 3'650 * kDay;

// A row under construction: what differs from the usual is said by name.
class Row : public SchemaRow {
 private:
  template <class Member, class Value>
  constexpr Row with(Member member, Value value) const {
    Row row = *this;
    row.*member = value;
    return row;
  }

 public:
  constexpr Row(std::string_view its_key, Type its_type, std::string_view its_sentence) {
    key = its_key;
    type = its_type;
    sentence = its_sentence;
  }
  constexpr Row is(std::string_view value) const { return with(&Row::standard, value); }
  constexpr Row none() const { return is("~").with(&Row::nullable, true); }
  constexpr Row or_none() const { return with(&Row::nullable, true); }
  constexpr Row from(std::int64_t least, std::int64_t largest) const {
    return with(&Row::min, least).with(&Row::max, largest);
  }
  constexpr Row entries(std::size_t least, std::size_t largest) const {
    return with(&Row::fewest, least).with(&Row::most, largest);
  }
  constexpr Row of(std::string_view list) const { return with(&Row::words, list); }
  constexpr Row must() const { return with(&Row::required, true); }
  constexpr Row at_start() const { return with(&Row::restart, true); }
  constexpr Row hidden() const { return with(&Row::secret, true); }
  constexpr Row later() const { return with(&Row::built, false); }
};

// clang-format off
constexpr auto kRows = std::to_array<Row>({
    Row("database.url", Type::postgres_url,
        "The shop's database: any libpq URI or key=value string, several hosts too.")
        .must().at_start().hidden(),
    Row("database.read_url", Type::postgres_url,
        "A replica for rebuild and sweep scans; decisions always happen on `url`.")
        .none().at_start().hidden().later(),
    Row("database.connections", Type::integer,
        "Upper bound of all uses together; one is kept for closing, one for outbox and "
        "discovery.").is("4").from(3, 100).at_start(),
    Row("database.connect_timeout", Type::duration,
        "How long opening a connection may take.").is("3s").from(100, 5 * kMinute).at_start(),
    Row("database.acquire_timeout", Type::duration,
        "How long work waits for a free connection before it fails.")
        .is("2s").from(100, 5 * kMinute).at_start(),
    Row("database.statement_timeout", Type::duration,
        "How long one statement may run.").is("5s").from(100, kHour).at_start(),
    Row("database.max_lifetime", Type::duration,
        "A connection older than this is replaced.").is("30m").from(kSecond, kLongest).at_start(),

    Row("order_table.name", Type::table_name, "The shop's order table.").must().at_start(),
    Row("order_table.columns.id", Type::column_name,
        "The order's id: smallint, integer or bigint.").is("id").at_start(),
    Row("order_table.columns.order_no", Type::column_name,
        "The order's number: text, varchar or bigint.").is("order_no").at_start(),
    Row("order_table.columns.user_id", Type::column_name,
        "The buyer; goes into the events' payload.").is("user_id").or_none().at_start(),
    Row("order_table.columns.business_line", Type::column_name,
        "The column that names the order's business line.").is("biz_line").at_start(),
    Row("order_table.columns.status", Type::column_name,
        "The order's status: text, enum or integer.").is("status").at_start(),
    Row("order_table.columns.created_at", Type::column_name,
        "When the order was placed: timestamptz, or timestamp read in "
        "`order_table.time_zone`.").is("created_at").at_start(),
    Row("order_table.columns.version", Type::column_name,
        "A version that every change of the order raises.").is("version").or_none().at_start(),
    Row("order_table.columns.deadline", Type::column_name,
        "The order's own pay deadline; where NULL, `created_at` + timeout holds.")
        .none().at_start(),
    Row("order_table.columns.amount", Type::column_name,
        "The order's amount; goes into the events' payload.")
        .is("amount_cents").or_none().at_start(),
    Row("order_table.columns.closed_at", Type::column_name,
        "Set to the instant of the close.").is("closed_at").or_none().at_start(),
    Row("order_table.columns.paid_at", Type::column_name,
        "Where not NULL, the order has evidence of payment and is never closed.").none().at_start(),
    Row("order_table.status.pending", Type::text,
        "The status of an order that waits for its payment.").is("WAIT_PAY").at_start(),
    Row("order_table.status.closed", Type::text,
        "The status that a close sets.").is("CLOSED").at_start(),
    Row("order_table.status.paid", Type::text, "The status of a paid order.").is("PAID").at_start(),
    Row("order_table.time_zone", Type::time_zone,
        "How a timestamp without time zone is read.").is("UTC").at_start(),
    Row("order_table.items", Type::section,
        "Optional: the order's items, for the events' payload.").at_start(),
    Row("order_table.items.table", Type::table_name, "The table of the items.").must().at_start(),
    Row("order_table.items.order_id", Type::column_name,
        "Its column that holds the order's id.").is("order_id").at_start(),
    Row("order_table.items.columns", Type::column_list,
        "The columns that go into the payload.").is("[sku_id, qty]").entries(1, 50).at_start(),
    Row("order_table.payments", Type::section,
        "Optional: the shop's payments, as evidence of payment.").at_start(),
    Row("order_table.payments.table", Type::table_name,
        "The table of the payments.").must().at_start(),
    Row("order_table.payments.id", Type::column_name,
        "The payment's id.").is("payment_id").at_start(),
    Row("order_table.payments.order_id", Type::column_name,
        "Its column that holds the order's id.").is("order_id").at_start(),
    Row("order_table.payments.status", Type::column_name,
        "The payment's status.").is("status").at_start(),
    Row("order_table.payments.amount", Type::column_name,
        "The payment's amount.").is("amount_cents").at_start(),
    Row("order_table.payments.created_at", Type::column_name,
        "When the payment was made.").is("created_at").at_start(),
    Row("order_table.payments.paid", Type::text_list,
        "Statuses that are evidence of payment.").is("[SUCCESS]").entries(1, 50).at_start(),
    Row("order_table.payments.in_progress", Type::text_list,
        "Statuses of an attempt that may still succeed.").is("[PAYING]").at_start(),

    Row("business_lines", Type::section,
        "The rules by business line; without this section there is one line, `default`. An "
        "order whose line is not listed takes `default`, without `default` it is left alone "
        "and counted."),
    Row("business_lines.*.timeout", Type::duration,
        "How long an order waits for its payment. What a line does not say it takes from "
        "`default`.").is("30m").from(kSecond, kLongest),
    Row("business_lines.*.grace", Type::duration,
        "Added to the deadline before an order is closed.").is("60s").from(0, kLongest),
    Row("business_lines.*.action", Type::word,
        "`close`; `review`: a person decides; `shadow`: only record what would be closed; "
        "`ignore`.").is("close").of("close|review|shadow|ignore"),
    Row("business_lines.*.on_close", Type::event_list,
        "The events that a close sets off; `[]`: none.").is("[release_stock]").entries(0, 16),
    Row("business_lines.*.max_per_second", Type::integer,
        "Most closes a second on this line; 0: no limit.").is("0").from(0, 1'000'000).later(),
    Row("business_lines.*.payment_check", Type::boolean,
        "Ask the payment gateway before a close on this line.").is("false"),

    Row("redis", Type::section,
        "Optional: reminders in a sorted set; without this section PostgreSQL alone feeds the "
        "wheel."),
    Row("redis.url", Type::redis_url, "The server; user and password stand in the URL.")
        .is("redis://127.0.0.1:6379/0").at_start().hidden(),
    Row("redis.zset", Type::text,
        "The sorted set: the member is the order, its score its timeout.").is("delay:close:order"),
    Row("redis.member", Type::word,
        "What a member is: an order's number or its id.").is("order_no").of("order_no|id"),
    Row("redis.score", Type::word,
        "The unit of a score, since the epoch.").is("milliseconds").of("milliseconds|seconds"),
    Row("redis.poll_interval", Type::duration,
        "How often due members are read.").is("500ms").from(100, kHour),
    Row("redis.max_extension", Type::duration,
        "A score later than the database's deadline delays the close by at most this.")
        .is("24h").from(0, kLongest),

    Row("discovery.poll_interval", Type::duration,
        "How often new orders are read from PostgreSQL.").is("1s").from(100, kHour),
    Row("discovery.max_in_memory", Type::integer,
        "Above it only the nearest orders stay in memory; 0: no limit.")
        .is("0").from(0, 1'000'000'000).later(),

    Row("close.batch_size", Type::integer,
        "Most orders closed in one transaction.").is("500").from(1, 10'000),
    Row("close.max_per_second", Type::integer,
        "Most closes a second; 0: no limit.").is("0").from(0, 1'000'000),
    Row("close.max_age", Type::duration,
        "Orders overdue by more are not closed unasked: counted, logged, closed by "
        "`order-timeoutctl close` only.").is("30d").from(kSecond, kOldest),

    Row("guard.max_due_by_reload", Type::integer,
        "A reload that would make more orders due at once is refused unless confirmed; a start "
        "pauses closing instead, until `order-timeoutctl resume`.")
        .is("1000").from(0, 1'000'000'000),
    Row("guard.max_closes_per_minute", Type::integer,
        "Above it closing pauses with an alert; 0: no limit.").is("0").from(0, 100'000'000).later(),
    Row("guard.clock_warn", Type::duration,
        "Skew between this host, PostgreSQL and Redis that is worth a warning.")
        .is("50ms").from(1, kHour),
    Row("guard.clock_fence", Type::duration,
        "A jump of the database's clock by more pauses closing.").is("5s").from(100, kDay).later(),

    Row("payment_check", Type::section,
        "Optional: a payment gateway, asked before a close on the lines that say so.").none(),
    Row("payment_check.url", Type::text,
        "Where the gateway is asked (GET); `{order_no}` is put in. Only this machine in this "
        "version. It answers `{\"status\":\"...\"}`.").must().hidden(),
    Row("payment_check.connect_timeout", Type::duration,
        "How long connecting to the gateway may take.").is("500ms").from(10, kMinute),
    Row("payment_check.read_timeout", Type::duration,
        "How long the gateway may take to answer.").is("1500ms").from(10, kMinute),
    Row("payment_check.concurrency", Type::integer,
        "Questions in flight at most.").is("16").from(1, 1'000),
    Row("payment_check.none", Type::text_list,
        "Answers that mean there is no payment.").is("[NONE, FAILED]").entries(1, 50),
    Row("payment_check.in_progress", Type::text_list,
        "Answers that mean wait.").is("[PAYING]"),
    Row("payment_check.paid", Type::text_list,
        "Answers that mean paid: the order is held.").is("[PAID]"),
    Row("payment_check.retry_after", Type::duration, "When to ask again.").is("5s")
        .from(100, kHour),
    Row("payment_check.max_delay", Type::duration,
        "How long a payment in progress may delay the close, by the gateway's word as by "
        "`order_table.payments`; then the order is held.").is("10m").from(0, kLongest),
    Row("payment_check.unknown", Type::word,
        "What any other answer, or none, does; `defer`: asked again until the gateway answers, "
        "an alert after `max_delay`.").is("defer").of("defer|hold|close"),

    Row("events", Type::section,
        "What a close sets off, by name; the event's type is the name in upper case. "
        "`on_close` names them; an event named `refund` takes the REFUND events."),
    Row("events.*.sink", Type::word, "Where the event goes; `redis_stream` is not in this version.")
        .is("http").of("http|sql|redis_stream"),
    Row("events.*.url", Type::event_url,
        "sink http: where the event is POSTed; only this machine (127.0.0.1, [::1], "
        "localhost) in this version.").hidden(),
    Row("events.*.status_url", Type::text,
        "Asked before a retry when the outcome is unknown.").later(),
    Row("events.*.connect_timeout", Type::duration,
        "How long connecting to the sink may take.").is("500ms").from(10, 25 * kSecond),
    Row("events.*.read_timeout", Type::duration,
        "How long the sink may take to answer; with connect_timeout less than the lease of "
        "30s.").is("1500ms").from(10, 25 * kSecond),
    Row("events.*.done_codes", Type::integer_list,
        "Answers beside 2xx that mean done already.").is("[409]").from(200, 599),
    Row("events.*.headers.*", Type::header_value, "A header sent with every call.").hidden(),
    Row("events.*.ca_file", Type::path, "The certificate authority of an https sink.").later(),
    Row("events.*.allow_plain_http", Type::boolean,
        "Allows http beyond this machine.").is("false").later(),
    Row("events.*.concurrency", Type::integer, "Calls in flight at most.").is("16").from(1, 1'000),
    Row("events.*.breaker.window", Type::duration,
        "The stretch of time that the breaker judges by.").is("10s").from(100, kDay).later(),
    Row("events.*.breaker.min_calls", Type::integer,
        "Fewer calls in the window never open the breaker.").is("20").from(1, 1'000'000).later(),
    Row("events.*.breaker.error_rate", Type::number,
        "The share of failed calls that opens the breaker.").is("0.5").later(),
    Row("events.*.breaker.open_for", Type::duration,
        "How long the breaker stays open.").is("5s").from(100, kDay).later(),
    Row("events.*.statement", Type::text, "sink sql: one statement, $1 is the event as jsonb."),
    Row("events.*.stream", Type::text, "sink redis_stream: the stream.").later(),

    Row("outbox.backoff", Type::duration_list,
        "The wait before retry 1, 2, ...; the last one repeats; with jitter.")
        .is("[1s, 5s, 30s, 1m, 2m, 5m, 10m, 15m, 30m]").from(100, kLongest).entries(1, 50),
    Row("outbox.max_attempts", Type::integer,
        "Real calls before an event is DEAD.").is("10").from(1, 1'000),
    Row("outbox.retention", Type::duration,
        "Finished events older than this are removed.").is("7d").from(kSecond, kOldest),

    Row("sweep.nightly", Type::time_of_day,
        "When every pending order past its deadline is looked for, in `sweep.time_zone`.")
        .is("03:00"),
    Row("sweep.time_zone", Type::time_zone,
        "The time zone of `sweep.nightly`.").is("Asia/Shanghai"),
    Row("sweep.catch_up_interval", Type::duration,
        "How often orders that became due lately are looked for in between.")
        .is("60s").from(100, kDay),
    Row("sweep.window", Type::integer,
        "How far back the catch-up looks: this many timeouts.").is("2").from(1, 100),
    Row("sweep.page_size", Type::integer,
        "Rows read by one statement of a sweep.").is("500").from(1, 10'000),

    Row("alert.command", Type::text, "Run on an alert.").none().later(),
    Row("alert.webhook", Type::text, "POSTed to on an alert.").none().hidden().later(),
    Row("probe", Type::text,
        "A synthetic order through the whole chain, every night.").none().later(),

    Row("admin.listen", Type::address,
        "Where /metrics, /healthz and /readyz are served.").is("127.0.0.1:9478").at_start(),
    Row("admin.socket", Type::path,
        "The control socket of `order-timeoutctl status | reload | pause | resume`.").is("/run/order-timeoutd/control.sock").at_start(),

    Row("log.directory", Type::path,
        "Where order-timeoutd.log, audit.log and status.json are written.")
        .is("/var/log/order-timeoutd").at_start(),
    Row("log.level", Type::word,
        "Entries below it are not written.").is("info").of("trace|debug|info|warn|error"),
    Row("log.format", Type::word,
        "One line an entry, as text or as a JSON object.").is("text").of("text|json"),
    Row("log.max_size", Type::size,
        "A log file larger than this is rotated.").is("100MB").from(1'000, 1'000'000'000'000),
    Row("log.keep", Type::integer, "Rotated files that are kept.").is("14").from(1, 1'000),

    Row("snapshot", Type::path,
        "The last configuration that worked, for a start without a usable file.")
        .is("/var/lib/order-timeoutd/last-good.yaml").at_start(),
    Row("high_availability.lease", Type::duration,
        "How long a daemon that fell silent keeps its shard.")
        .is("10s").from(2 * kSecond, kHour).at_start().later(),
    Row("high_availability.shards", Type::integer,
        "Parts that several daemons share the orders by.")
        .is("1").from(1, 1'024).at_start().later(),
});
// clang-format on

}  // namespace

std::span<const SchemaRow> schema_rows() {
  static const std::vector<SchemaRow> rows{kRows.begin(), kRows.end()};
  return rows;
}

}  // namespace order_timeout
