// Files that are wrong as YAML, or in their keys: each is refused with every message at its line
// and column.
#include <gmock/gmock.h>

#include "config_fixture.hpp"

namespace order_timeout {
namespace {

using test::errors_of;
using test::kShort;
using test::sources_of;
using testing::HasSubstr;
using testing::StartsWith;

struct BadFile {
  const char* text;
  const char* expected;  // all messages, each a line
};

void PrintTo(const BadFile& file, std::ostream* out) { *out << file.text; }

class BadYaml : public testing::TestWithParam<BadFile> {};
class BadKeys : public testing::TestWithParam<BadFile> {};

TEST_P(BadYaml, IsRefusedWithItsPlace) {
  EXPECT_EQ(errors_of(sources_of(GetParam().text)), GetParam().expected);
}

// Behind four good lines.
TEST_P(BadKeys, AreRefusedWithTheirPlace) {
  EXPECT_EQ(errors_of(sources_of(kShort + GetParam().text)), GetParam().expected);
}

const BadFile kYaml[] = {
    {"",
     "x.yaml: database.url: is required; allowed: postgresql://... or key=value pairs\n"
     "x.yaml: order_table.name: is required; allowed: [SCHEMA.]TABLE, each 1 to 63 bytes\n"
     "x.yaml: business_lines.default.on_close: on_close names an event that `events` does not "
     "define: release_stock\n"},
    {"[1, 2]", "x.yaml:1:1: not a map of keys\n"},
    {"text", "x.yaml:1:1: not a map of keys\n"},
    {"a: [1, 2", "x.yaml:1:9: YAML: end of sequence flow not found\n"},
    {"a: {b: 1", "x.yaml:1:9: YAML: end of map flow not found\n"},
    {"a: 1\n b: 2\n", "x.yaml:2:3: YAML: illegal map value\n"},
    {"a: @x\n", "x.yaml:1:4: YAML: unknown token\n"},
    {"a: \"never closed\n", "x.yaml:1:4: YAML: this quote is never closed\n"},
    {"a: 'never closed\n", "x.yaml:1:4: YAML: this quote is never closed\n"},
    {"\ta: 1\n", "x.yaml:1:1: a tab where the line is indented; YAML is indented with spaces\n"},
    {"a:\n  \tb: 1\n",
     "x.yaml:2:3: a tab where the line is indented; YAML is indented with spaces\n"},
    {"a: \xff\n", "x.yaml:1:4: not UTF-8\n"},
    {"a: \xc3\xa4\xc3\n", "x.yaml:1:5: not UTF-8\n"},
    {"a: \xed\xa0\x80\n", "x.yaml:1:4: not UTF-8\n"},
    {"a: \xc0\xaf\n", "x.yaml:1:4: not UTF-8\n"},
    {"\xef\xbb\xbf"
     "a: 1\n",
     "x.yaml:1:1: the text begins with a byte order mark; save it as UTF-8 without one\n"},
    {"a: \x1b[0m\n", "x.yaml:1:4: a control character\n"},
    {"a: &x 1\nb: *x\n",
     "x.yaml:1:4: a: anchors (&x) are not allowed\nx.yaml:2:4: b: aliases (*name) are not "
     "allowed\n"},
    {"a:\n  <<: {b: 1}\n", "x.yaml:2:3: a.\"<<\": merge keys (<<) are not allowed\n"},
    {"a: !!str 1\n", "x.yaml:1:4: a: tags such as !!str are not allowed\n"},
    {"a: !local {b: 1}\n", "x.yaml:1:4: a: tags such as !!str are not allowed\n"},
    {"? [a]\n: 1\n", "x.yaml:1:3: YAML: a key must be plain text; is a bracket left open?\n"},
    {"~: 1\n", "x.yaml:1:1: YAML: a key must be plain text\n"},
    {"a: 1\n---\nb: 2\n", "x.yaml:2:1: YAML: a second document begins; one file holds one\n"},
    {"a: 1\nb: 2\na: 3\n", "x.yaml:3:1: a: the key stands twice, first in line 1\n"},
    {"log:\n  keep: 1\n  \"keep\": 2\n",
     "x.yaml:3:3: log.keep: the key stands twice, first in line 2\n"},
    {"a: {b: 1, b: 2}\nc: {d: 1, d: 1}\n",
     "x.yaml:1:11: a.b: the key stands twice, first in line 1\n"
     "x.yaml:2:11: c.d: the key stands twice, first in line 2\n"},
    {"a: [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]\n", "x.yaml:1:19: YAML: nested deeper than 16\n"},
};
INSTANTIATE_TEST_SUITE_P(Config, BadYaml, testing::ValuesIn(kYaml));

const BadFile kKeys[] = {
    {"databse: {url: x}\n", "x.yaml:5:1: databse: unknown key, did you mean database?\n"},
    {"close: {max_per_secnd: 5}\n",
     "x.yaml:5:9: close.max_per_secnd: unknown key, did you mean max_per_second?\n"},
    {"business_lines: {default: {time_out: 5m}}\n",
     "x.yaml:5:28: business_lines.default.time_out: unknown key, did you mean timeout?\n"},
    {"sweep: {xyzzy: 1}\n",
     "x.yaml:5:9: sweep.xyzzy: unknown key; known here: nightly, time_zone, catch_up_interval, "
     "window, page_size\n"},
    {"redis: {urll: \"redis://h\"}\n", "x.yaml:5:9: redis.urll: unknown key, did you mean url?\n"},
    {"Log: {keep: 1}\n", "x.yaml:5:1: Log: unknown key, did you mean log?\n"},
    {"log:\n", "x.yaml:5:1: log: is left blank; allowed: a section of keys\n"},
    {"log: ~\n", "x.yaml:5:6: log: found ~; allowed: a section of keys\n"},
    {"log: [1]\n", "x.yaml:5:6: log: found a list; allowed: a section of keys\n"},
    {"log: 5\n", "x.yaml:5:6: log: found a single value; allowed: a section of keys\n"},
    {"log: {keep: }\n",
     "x.yaml:5:7: log.keep: is left blank; allowed: a whole number from 1 to 1000\n"},
    {"log:\n  keep:\n  level: info\n",
     "x.yaml:6:3: log.keep: is left blank; allowed: a whole number from 1 to 1000\n"},
    {"log: {keep: ~}\n",
     "x.yaml:5:13: log.keep: found ~; allowed: a whole number from 1 to 1000\n"},
    {"log: {keep: [1]}\n",
     "x.yaml:5:13: log.keep: found a list; allowed: a whole number from 1 to 1000\n"},
    {"log: {keep: {a: 1}}\n",
     "x.yaml:5:13: log.keep: found a section; allowed: a whole number from 1 to 1000\n"},
    {"business_lines: {}\n",
     "x.yaml:5:1: business_lines: lists no line; leave it out for the line `default`\n"},
    {"business_lines: {hotel: ~}\n",
     "x.yaml:5:25: business_lines.hotel: found ~; allowed: a section of keys\n"},
    {"business_lines: {\"\": {}}\n", "x.yaml:5:18: business_lines.\"\": an empty name\n"},
    {"order_tabel: {name: x}\nlog: {kep: 1}\n",
     "x.yaml:5:1: order_tabel: unknown key, did you mean order_table?\n"
     "x.yaml:6:7: log.kep: unknown key, did you mean keep?\n"},
};
INSTANTIATE_TEST_SUITE_P(Config, BadKeys, testing::ValuesIn(kKeys));

TEST(BadConfig, IsRefusedBeyondOneMebibyte) {
  const std::string most = kShort + "#" + std::string(1'048'576 - kShort.size() - 1, 'x');
  EXPECT_EQ(errors_of(sources_of(most)), "");
  EXPECT_EQ(errors_of(sources_of(most + "x")), "x.yaml: larger than 1 MiB\n");
}

TEST(BadConfig, ListsAHundredErrorsOfOneKindAndStops) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += "k: 1\n";
  const std::string errors = errors_of(sources_of(text));
  EXPECT_THAT(errors, StartsWith("x.yaml:2:1: k: the key stands twice, first in line 1\n"));
  EXPECT_THAT(errors, HasSubstr("too many errors, the rest is not read\n"));
  EXPECT_LT(errors.size(), 10'000U);
}

TEST(BadConfig, SaysHowManyMoreErrorsThereAre) {
  std::string text = kShort;
  for (int i = 0; i < 300; ++i) text += "unknown_" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(errors_of(sources_of(text)), testing::EndsWith("x.yaml: 100 more errors\n"));
}

TEST(BadConfig, IsReportedInOneLineWhateverAKeyHolds) {
  EXPECT_EQ(errors_of(sources_of(kShort + "\"a\\nb\": 1\n")),
            "x.yaml:5:1: \"a?b\": unknown key; known here: database, order_table, business_lines, "
            "redis, discovery, close, guard, payment_check, events, outbox, sweep, alert, probe, "
            "admin, log, snapshot, high_availability\n");
}

TEST(BadConfig, CountsColumnsInCharacters) {
  EXPECT_THAT(errors_of(sources_of("\xc3\xa4\xc3\xb6: {b: 1, b: 2}\n")),
              StartsWith("x.yaml:1:12: "));
}

TEST(BadConfig, ReportsEverythingOfOneFileInItsOrder) {
  const std::string text =
      "database: {connections: 2}\n"
      "close: {batch_size: 0, batchsize: 1}\n"
      "log: {level: loud}\n";
  EXPECT_EQ(errors_of(sources_of(text)),
            "x.yaml:1:1: database.url: is required; allowed: postgresql://... or key=value pairs\n"
            "x.yaml:1:25: database.connections: found \"2\": too small; allowed: a whole number "
            "from 3 to 100\n"
            "x.yaml:2:21: close.batch_size: found \"0\": too small; allowed: a whole number from 1 "
            "to 10000\n"
            "x.yaml:2:24: close.batchsize: unknown key, did you mean batch_size?\n"
            "x.yaml:3:14: log.level: found \"loud\": none of the words; allowed: trace | debug | "
            "info | warn | error\n"
            "x.yaml: order_table.name: is required; allowed: [SCHEMA.]TABLE, each 1 to 63 bytes\n"
            "x.yaml: business_lines.default.on_close: on_close names an event that `events` does "
            "not define: release_stock\n");
}

}  // namespace
}  // namespace order_timeout
