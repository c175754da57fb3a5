// Values that are of the wrong type, out of range, at odds with each other or not in this version:
// each is refused, named and answered with what is allowed.
#include <gmock/gmock.h>

#include <algorithm>

#include "config_fixture.hpp"

namespace order_timeout {
namespace {

using test::errors_of;
using test::kShort;
using test::sources_of;
using testing::HasSubstr;
using testing::StartsWith;

// One value by --set over a good file.
struct BadValue {
  const char* key;
  const char* value;
  const char* expected;  // the message behind the key
};

void PrintTo(const BadValue& bad, std::ostream* out) { *out << bad.key << "=" << bad.value; }

class BadValues : public testing::TestWithParam<BadValue> {};
class NotInThisVersion : public testing::TestWithParam<BadValue> {};

std::string errors_with(const BadValue& bad) {
  ConfigSources sources = sources_of(kShort);
  sources.sets.emplace_back(bad.key, bad.value);
  return errors_of(sources);
}

TEST_P(BadValues, AreRefusedWithWhatIsAllowed) {
  EXPECT_EQ(errors_with(GetParam()),
            "--set: " + std::string{GetParam().key} + ": " + GetParam().expected + "\n");
}

constexpr const char* kUnit =
    "found \"30\": a duration needs a unit: 30m; allowed: a duration from 1s to 400d";
constexpr const char* kTimeouts = "business_lines.default.timeout";

const BadValue kValues[] = {
    {kTimeouts, "30", kUnit},
    {kTimeouts, "0s", "found \"0s\": too small; allowed: a duration from 1s to 400d"},
    {kTimeouts, "999ms", "found \"999ms\": too small; allowed: a duration from 1s to 400d"},
    {kTimeouts, "401d", "found \"401d\": too large; allowed: a duration from 1s to 400d"},
    {kTimeouts, "030m",
     "found \"030m\": a number with leading zeros; allowed: a duration from 1s to 400d"},
    {kTimeouts, "-5m",
     "found \"-5m\": not a duration such as 500ms, 15m or 2h30m; allowed: a duration from 1s to "
     "400d"},
    {kTimeouts, "1e99",
     "found \"1e99\": the units are ms, s, m, h and d; allowed: a duration from 1s to 400d"},
    {kTimeouts, "99999999999999999999d",
     "found \"99999999999999999999d\": the number is too large; allowed: a duration from 1s to "
     "400d"},
    {kTimeouts, "30 m",
     "found \"30 m\": the units are ms, s, m, h and d; allowed: a duration from 1s to 400d"},
    {kTimeouts, "PT30M",
     "found \"PT30M\": not a duration such as 500ms, 15m or 2h30m; allowed: a duration from 1s to "
     "400d"},
    {kTimeouts, "３０m",
     "found \"３０m\": not a duration such as 500ms, 15m or 2h30m; allowed: a duration from 1s to "
     "400d"},
    {"business_lines.default.grace", "60",
     "found \"60\": a duration needs a unit: 30m; allowed: a duration from 0s to 400d"},
    {"business_lines.default.action", "delete",
     "found \"delete\": none of the words; allowed: close | review | shadow | ignore"},
    {"business_lines.default.on_close", "release_stock",
     "found a single value; allowed: a list of 0 to 16 names of events"},
    {"business_lines.default.on_close", "[release_stock, release_stock]",
     "an entry stands twice; allowed: a list of 0 to 16 names of events"},
    {"business_lines.default.on_close", "[Release]",
     "found \"Release\": an event's name has a-z, 0-9 and _, begins with a letter, at most 63; "
     "allowed: a list of 0 to 16 names of events"},
    {"business_lines.default.on_close", "[coupon]",
     "on_close names an event that `events` does not define: coupon"},
    {"database.connections", "2", "found \"2\": too small; allowed: a whole number from 3 to 100"},
    {"database.connections", "101",
     "found \"101\": too large; allowed: a whole number from 3 to 100"},
    {"database.connections", "010",
     "found \"010\": a number with leading zeros; allowed: a whole number from 3 to 100"},
    {"database.connections", "four",
     "found \"four\": not a whole number; allowed: a whole number from 3 to 100"},
    {"database.connections", "yes",
     "found \"yes\": not a whole number; allowed: a whole number from 3 to 100"},
    {"database.connections", "5.0",
     "found \"5.0\": not a whole number; allowed: a whole number from 3 to 100"},
    {"close.batch_size", "10001",
     "found \"10001\": too large; allowed: a whole number from 1 to 10000"},
    {"close.batch_size", "99999999999999999999",
     "found \"99999999999999999999\": the number is too large; allowed: a whole number from 1 to "
     "10000"},
    {"database.url", "", "is left blank; allowed: postgresql://... or key=value pairs"},
    {"database.url", "mysql://h/db",
     "found a value that is not shown: neither a postgresql:// URI nor key=value pairs; allowed: "
     "postgresql://... or key=value pairs"},
    {"order_table.name", "a.b.c",
     "found \"a.b.c\": more than one dot; allowed: [SCHEMA.]TABLE, each 1 to 63 bytes"},
    {"order_table.name", "public.",
     "found \"public.\": an empty name; allowed: [SCHEMA.]TABLE, each 1 to 63 bytes"},
    {"order_table.columns.id", "~", "found ~; allowed: a column's name, 1 to 63 bytes"},
    {"order_table.columns.version", "",
     "is left blank; allowed: a column's name, 1 to 63 bytes, or ~"},
    {"order_table.columns.user_id",
     "a123456789b123456789c123456789d123456789e123456789f123456789gggg",
     "found \"a123456789b123456789c123456789d123456789e123456789f123456789...\": longer than 63 "
     "bytes; allowed: a column's name, 1 to 63 bytes, or ~"},
    {"order_table.status.closed", "WAIT_PAY", "pending, closed and paid must differ"},
    {"order_table.time_zone", "Asia/Shangri-La",
     "found \"Asia/Shangri-La\": no time zone that this system knows; allowed: a time zone such as "
     "Asia/Shanghai or UTC"},
    {"redis.url", "rediss://h",
     "found a value that is not shown: TLS (rediss) is not in this version; allowed: "
     "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB] or unix:///PATH"},
    {"redis.url", "http://h",
     "found a value that is not shown: neither redis:// nor unix://; allowed: "
     "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB] or unix:///PATH"},
    {"redis.url", "redis://h/x",
     "found a value that is not shown: the path is not the number of a database; allowed: "
     "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB] or unix:///PATH"},
    {"redis.url", "redis://",
     "found a value that is not shown: no host in the URL; allowed: "
     "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB] or unix:///PATH"},
    {"redis.url", "unix:///run/r.sock?dbb=1",
     "found a value that is not shown: behind the socket's path only ?db=N is known; allowed: "
     "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB] or unix:///PATH"},
    {"redis.url", "unix://relative",
     "found a value that is not shown: no absolute socket path; allowed: "
     "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB] or unix:///PATH"},
    {"redis.url", "redis://h:0",
     "found a value that is not shown: a bad port; allowed: "
     "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB] or unix:///PATH"},
    {"redis.score", "minutes",
     "found \"minutes\": none of the words; allowed: milliseconds | seconds"},
    {"redis.poll_interval", "99ms",
     "found \"99ms\": too small; allowed: a duration from 100ms to 1h"},
    {"outbox.backoff", "[]",
     "too few entries; allowed: a list of 1 to 50 durations from 100ms to 400d"},
    {"outbox.backoff", "[1s, 5]",
     "found \"5\": a duration needs a unit: 30m; allowed: a list of 1 to 50 durations from 100ms "
     "to "
     "400d"},
    {"outbox.backoff", "[1s, 50ms]",
     "found \"50ms\": too small; allowed: a list of 1 to 50 durations from 100ms to 400d"},
    {"outbox.backoff", "[1s, [2s]]", "an entry of the list is no single value"},
    {"sweep.nightly", "3:00", "found \"3:00\": not a time of day such as 03:00; allowed: HH:MM"},
    {"sweep.nightly", "\"24:00\"",
     "found \"24:00\": not a time of day such as 03:00; allowed: HH:MM"},
    {"admin.listen", "9478",
     "found \"9478\": a port is missing or bad; allowed: HOST:PORT or [IPV6]:PORT"},
    {"admin.listen", "127.0.0.1:70000",
     "found \"127.0.0.1:70000\": a port is missing or bad; allowed: HOST:PORT or [IPV6]:PORT"},
    {"log.directory", "logs", "found \"logs\": not an absolute path; allowed: an absolute path"},
    {"log.max_size", "100",
     "found \"100\": a size needs a unit: 100MB; allowed: a size from 1KB to 1000GB"},
    {"log.format", "JSON", "found \"JSON\": none of the words; allowed: text | json"},
    {"events.release_stock.done_codes", "[409, 600]",
     "found \"600\": too large; allowed: a list of 0 to 50 whole numbers from 200 to 599"},
    {"events.release_stock.url", "ftp://127.0.0.1/x",
     "not an http:// URL; allowed: http://HOST[:PORT]/PATH"},
    {"events.release_stock.url", "http://u:p@127.0.0.1/x",
     "user or password in the URL; use headers; allowed: http://HOST[:PORT]/PATH"},
    {"events.release_stock.url", "http:///x",
     "no host in the URL; allowed: http://HOST[:PORT]/PATH"},
    {"events.release_stock.statement", "SELECT 1", "belongs to sink: sql"},
    {"events.release_stock.headers.Idempotency-Key", "x", "this header is set by the daemon"},
    {"events.release_stock.headers.\"a b\"", "x", "not the name of an HTTP header"},
    {"events.release_stock.headers.X-Key", "\"a\\nb\"",
     "found a value that is not shown: more than one line; allowed: one line of text"},
    {"database.connect_timeout", "${WAIT}", "the environment variable WAIT is not set"},
    {"database.connect_timeout", "${WAIT:-3}",
     "found \"${WAIT:-3}\": a duration needs a unit: 30m; allowed: a duration from 100ms to 5m"},
    {"log.directory", "${file:/no/such}", "the file \"/no/such\" cannot be read"},
    {"log.directory", "${file:etc}", "${file:PATH} needs an absolute path, found \"etc\""},
    {"log.directory", "/x/${A", "a ${ is never closed; $${ stands for ${ itself"},
    {"log.directory", "/x/${1A}",
     "a ${...} of no known form; allowed: ${NAME}, ${NAME:-default}, ${file:/path}, and $${ for ${ "
     "itself"},
    {"log.kep", "5", "unknown key, did you mean keep?"},
    {"log..keep", "5", "not a dotted key such as close.max_per_second"},
    {"log.keep", "[1", "YAML: a key must be plain text; is a bracket left open?"},
};
INSTANTIATE_TEST_SUITE_P(Config, BadValues, testing::ValuesIn(kValues));

TEST_P(NotInThisVersion, IsRefusedByName) {
  const std::string errors = errors_with(GetParam());
  EXPECT_THAT(errors, StartsWith("--set: " + std::string{GetParam().key} + ": "));
  EXPECT_THAT(errors, HasSubstr("not in this version"));
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1);
}

// Every feature that the file format knows and this version has not.
const BadValue kLater[] = {
    {"database.read_url", "postgresql:///replica", ""},
    {"business_lines.default.max_per_second", "5", ""},
    {"discovery.max_in_memory", "1000", ""},
    {"guard.max_closes_per_minute", "5", ""},
    {"guard.clock_fence", "6s", ""},
    {"events.release_stock.status_url", "http://127.0.0.1/{event_id}", ""},
    {"events.release_stock.ca_file", "/etc/ca.pem", ""},
    {"events.release_stock.allow_plain_http", "true", ""},
    {"events.release_stock.breaker.window", "11s", ""},
    {"events.release_stock.breaker.min_calls", "21", ""},
    {"events.release_stock.breaker.error_rate", "0.6", ""},
    {"events.release_stock.breaker.open_for", "6s", ""},
    {"events.release_stock.stream", "stock", ""},
    {"events.release_stock.url", "https://127.0.0.1/x", ""},
    {"events.release_stock.url", "http://10.0.0.1/x", ""},
    {"events.release_stock.url", "http://localhost.example.com/x", ""},
    {"events.release_stock.url", "http://127.0.0.1.example.com/x", ""},
    {"alert.command", "/bin/true", ""},
    {"alert.webhook", "http://127.0.0.1/alert", ""},
    {"probe", "{at: \"04:00\"}", ""},
    {"high_availability.lease", "11s", ""},
    {"high_availability.shards", "2", ""},
};
INSTANTIATE_TEST_SUITE_P(Config, NotInThisVersion, testing::ValuesIn(kLater));

TEST(NotInThisVersion, IsLegalAtItsDefaultHoweverItIsWritten) {
  EXPECT_EQ(errors_with({"guard.clock_fence", "5000ms", ""}), "");
  EXPECT_EQ(errors_with({"guard", "{max_closes_per_minute: 0, clock_fence: 5s}", ""}), "");
  EXPECT_EQ(errors_with({"payment_check", "~", ""}), "");
  EXPECT_EQ(errors_with({"alert", "{command: ~, webhook: ~}", ""}), "");
  EXPECT_EQ(errors_with({"events.release_stock.breaker", "{error_rate: 0.5}", ""}), "");
}

TEST(NotInThisVersion, IsARedisStreamOrAnotherDatabaseAsSink) {
  EXPECT_EQ(errors_with({"events.release_stock", "{sink: redis_stream}", ""}),
            "--set: events.release_stock.sink: redis_stream is not in this version\n");
  EXPECT_EQ(errors_with({"events.release_stock",
                         "{sink: sql, statement: SELECT 1, url: \"postgresql:///other\"}", ""}),
            "--set: events.release_stock.url: another database for sink: sql is not in this "
            "version; leave it out\n");
}

TEST(BadConfig, AsksASinkForWhatItNeeds) {
  EXPECT_EQ(errors_with({"events.release_stock", "{}", ""}),
            "x.yaml: events.release_stock.url: is required with sink: http; allowed: "
            "http://HOST[:PORT]/PATH\n");
  EXPECT_EQ(errors_with({"events.release_stock", "{sink: sql}", ""}),
            "x.yaml: events.release_stock.statement: is required with sink: sql\n");
  EXPECT_EQ(errors_with({"order_table.items", "{order_id: x}", ""}),
            "--set: order_table.items.table: is required; allowed: [SCHEMA.]TABLE, each 1 to 63 "
            "bytes\n");
  EXPECT_EQ(errors_with({"order_table.payments", "{table: p, paid: []}", ""}),
            "--set: order_table.payments.paid: too few entries; allowed: a list of 1 to 50 "
            "texts\n");
}

TEST(BadConfig, KeepsBothTimeoutsOfASinkBelowTheLease) {
  const std::string url = "url: \"http://127.0.0.1/x\"";
  EXPECT_EQ(errors_with({"events.release_stock",
                         ("{" + url + ", connect_timeout: 10s, read_timeout: 20s}").c_str(), ""}),
            "--set: events.release_stock.read_timeout: connect_timeout and read_timeout together "
            "must be less than 30s\n");
  EXPECT_EQ(
      errors_with({"events.release_stock",
                   ("{" + url + ", connect_timeout: 9999ms, read_timeout: 20s}").c_str(), ""}),
      "");
}

TEST(BadConfig, RefusesAHeaderThatDiffersInCaseOnly) {
  EXPECT_EQ(errors_with({"events.release_stock.headers", "{X-Key: a, x-key: b}", ""}),
            "--set: events.release_stock.headers.x-key: the header stands twice; case does not "
            "matter\n");
}

TEST(BadConfig, NamesASectionSetOverAValue) {
  EXPECT_EQ(errors_with({"log.keep.more", "5", ""}),
            "--set: log.keep: found a section; allowed: a whole number from 1 to 1000\n");
}

TEST(BadConfig, ReportsAnUndefinedEventWhereItIsWrittenAndOnce) {
  const std::string text =
      "database: {url: \"postgresql:///shop\"}\n"
      "order_table: {name: t_order}\n"
      "business_lines:\n"
      "  default: {on_close: [coupon]}\n"
      "  flash_sale: {timeout: 10m}\n"
      "  hotel: {on_close: [key_card]}\n";
  EXPECT_EQ(errors_of(sources_of(text)),
            "x.yaml:4:23: business_lines.default.on_close: on_close names an event that `events` "
            "does not define: coupon\n"
            "x.yaml:6:21: business_lines.hotel.on_close: on_close names an event that `events` "
            "does not define: key_card\n");
}

TEST(BadConfig, NamesTheVariableThatHeldAWrongValue) {
  ConfigSources sources = sources_of(kShort);
  sources.environment["ORDER_TIMEOUTD_SET__log__keep"] = "0";
  sources.environment["ORDER_TIMEOUTD_SET__"] = "0";
  sources.environment["ORDER_TIMEOUTD_SETTING"] = "not ours";
  EXPECT_EQ(errors_of(sources),
            "ORDER_TIMEOUTD_SET__: the variable's name holds no key\n"
            "ORDER_TIMEOUTD_SET__log__keep: log.keep: found \"0\": too small; allowed: a whole "
            "number from 1 to 1000\n");
}

}  // namespace
}  // namespace order_timeout
