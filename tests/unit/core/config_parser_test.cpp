// What a good configuration means: defaults, lines that take from `default`, and which of file,
// environment and command line has the last word.
#include "order_timeout/config_parser.hpp"

#include <gmock/gmock.h>

#include "config_fixture.hpp"

namespace order_timeout {
namespace {

using namespace std::chrono_literals;
using test::config_of;
using test::errors_of;
using test::kShort;
using test::parsed;
using test::sources_of;
using test::value_of;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Config, HasTheDefaultsOfItsStructsWhereTheFileSaysNothing) {
  Config expected;
  expected.database.url = "postgresql:///shop";
  expected.order_table.name = "t_order";
  expected.business_lines["default"] = BusinessLine{};
  expected.events["release_stock"].url = "http://127.0.0.1:8081/stock";
  expected.outbox.backoff = {1s, 5s, 30s, 1min, 2min, 5min, 10min, 15min, 30min};
  EXPECT_EQ(config_of(kShort), expected);
}

TEST(Config, HasRedisOnlyWhereTheSectionIs) {
  EXPECT_EQ(config_of(kShort).redis, std::nullopt);
  EXPECT_EQ(config_of(kShort + "redis: {}\n").redis, RedisConfig{});
}

TEST(Config, HasItemsAndPaymentsWhereTheirTableIsNamed) {
  const Config config = config_of(
      "database: {url: \"host=/tmp dbname=shop\"}\n"
      "order_table: {name: shop.orders, items: {table: item}, payments: {table: pay, paid: [2]}}\n"
      "events: {release_stock: {sink: sql, statement: \"SELECT release_stock($1::jsonb)\"}}\n");
  EXPECT_EQ(config.order_table.items.table, "item");
  EXPECT_THAT(config.order_table.items.columns, ElementsAre("sku_id", "qty"));
  EXPECT_EQ(config.order_table.payments.table, "pay");
  EXPECT_EQ(config.order_table.payments.id, "payment_id");
  EXPECT_THAT(config.order_table.payments.paid, ElementsAre("2"));
  EXPECT_THAT(config.order_table.payments.in_progress, ElementsAre("PAYING"));
  EXPECT_EQ(config.events.at("release_stock").kind, SinkKind::sql);
  EXPECT_EQ(config.events.at("release_stock").statement, "SELECT release_stock($1::jsonb)");
}

TEST(Config, LeavesOutTheColumnsThatMayBe) {
  const Config config = config_of(
      "database: {url: \"postgresql:///shop\"}\n"
      "order_table:\n"
      "  name: t_order\n"
      "  columns: {user_id: ~, version: ~, amount: null, closed_at: ~, paid_at: paid_on}\n"
      "events: {release_stock: {url: \"http://[::1]:80/x\"}}\n");
  EXPECT_EQ(config.order_table.columns.user_id, "");
  EXPECT_EQ(config.order_table.columns.version, "");
  EXPECT_EQ(config.order_table.columns.amount, "");
  EXPECT_EQ(config.order_table.columns.closed_at, "");
  EXPECT_EQ(config.order_table.columns.deadline, "");
  EXPECT_EQ(config.order_table.columns.paid_at, "paid_on");
}

TEST(Config, LetsALineTakeFromDefaultWhatItDoesNotSay) {
  const Config config = config_of(kShort +
                                  "business_lines:\n"
                                  "  flash_sale: {timeout: 10m}\n"
                                  "  default: {timeout: 2h30m, grace: 0s, action: shadow}\n"
                                  "  \"a.b\": {action: ignore, on_close: []}\n");
  ASSERT_EQ(config.business_lines.size(), 3U);
  const BusinessLine& flash_sale = config.business_lines.at("flash_sale");
  EXPECT_EQ(flash_sale.timeout, 10min);
  EXPECT_EQ(flash_sale.grace, 0s);
  EXPECT_EQ(flash_sale.action, LineAction::shadow);
  EXPECT_THAT(flash_sale.on_close, ElementsAre("release_stock"));
  EXPECT_EQ(config.business_lines.at("a.b").timeout, 150min);
  EXPECT_EQ(config.business_lines.at("a.b").action, LineAction::ignore);
  EXPECT_THAT(config.business_lines.at("a.b").on_close, IsEmpty());
}

TEST(Config, LetsALineTakeTheBuiltInDefaultsWhereThereIsNoDefaultLine) {
  const Config config = config_of(kShort + "business_lines: {hotel: {action: review}}\n");
  EXPECT_FALSE(config.business_lines.contains("default"));
  BusinessLine expected;
  expected.action = LineAction::review;
  EXPECT_EQ(config.business_lines.at("hotel"), expected);
}

TEST(Config, KeepsTheDefaultLineWhenOnlyTheCommandLineNamesAnother) {
  ConfigSources sources = sources_of(kShort);
  sources.sets.emplace_back("business_lines.flash_sale.timeout", "10m");
  const Config config = parsed(sources).config;
  EXPECT_EQ(config.business_lines.at("default"), BusinessLine{});
  EXPECT_EQ(config.business_lines.at("flash_sale").timeout, 10min);
}

TEST(Config, NeedsNoEventsWhereNoLineCloses) {
  const std::string text =
      "database: {url: \"postgresql:///shop\"}\n"
      "order_table: {name: t_order}\n"
      "business_lines: {default: {action: shadow}, hotel: {action: review}}\n";
  EXPECT_THAT(config_of(text).events, IsEmpty());
}

TEST(Config, NeedsNoEventsWhereACloseSetsOffNone) {
  const std::string text =
      "database: {url: \"postgresql:///shop\"}\n"
      "order_table: {name: t_order}\n"
      "business_lines: {default: {on_close: []}}\n";
  EXPECT_THAT(config_of(text).events, IsEmpty());
}

TEST(Config, IsDecidedByCommandLineThenEnvironmentThenFileThenDefault) {
  ConfigSources sources =
      sources_of(kShort + "close: {max_per_second: 1, batch_size: 2, max_age: 3d}\n");
  sources.environment["ORDER_TIMEOUTD_SET__close__max_per_second"] = "10";
  sources.environment["ORDER_TIMEOUTD_SET__close__batch_size"] = "20";
  sources.sets = {{"close.max_per_second", "99"}, {"close.max_per_second", "100"}};
  const ParsedConfig result = parsed(sources);
  EXPECT_EQ(result.config.close_max_per_second, 100);
  EXPECT_EQ(value_of(result, "close.max_per_second").origin, "command line");
  EXPECT_EQ(result.config.close_batch_size, 20);
  EXPECT_EQ(value_of(result, "close.batch_size").origin,
            "environment ORDER_TIMEOUTD_SET__close__batch_size");
  EXPECT_EQ(result.config.close_max_age, 72h);
  EXPECT_EQ(value_of(result, "close.max_age").origin, "file x.yaml:5");
  EXPECT_EQ(value_of(result, "log.keep").origin, "default");
}

TEST(Config, TakesListsAndSectionsFromTheCommandLine) {
  ConfigSources sources = sources_of(kShort);
  sources.sets = {{"outbox.backoff", "[100ms, 1s]"},
                  {"redis", "{zset: z, score: seconds}"},
                  {"business_lines.\"a.b\".timeout", "5m"}};
  const Config config = parsed(sources).config;
  EXPECT_THAT(config.outbox.backoff, ElementsAre(100ms, 1s));
  EXPECT_EQ(config.redis->zset, "z");
  EXPECT_EQ(config.redis->score, ScoreUnit::seconds);
  EXPECT_EQ(config.business_lines.at("a.b").timeout, 5min);
}

TEST(Config, TakesVariablesDefaultsAndFiles) {
  ConfigSources sources = sources_of(
      "database: {url: \"postgresql://${USER_NAME}:${file:/run/pw}@h/${DB:-shop}\"}\n"
      "order_table: {name: \"t_$${x}\"}\n"
      "events: {release_stock: {url: \"http://localhost/\", headers: {A: \"B ${file:/run/pw}\"}}}\n"
      "log: {keep: \"${KEEP}\", level: \"${EMPTY:-warn}\"}\n");
  sources.environment = {{"USER_NAME", "u"}, {"KEEP", "7"}, {"EMPTY", ""}};
  sources.read_file = [](const std::string& path) -> Result<std::string> {
    if (path != "/run/pw") return Failure{FailureKind::unavailable, "cannot be read", ""};
    return std::string{"s3cret${X}"};
  };
  const Config config = parsed(sources).config;
  EXPECT_EQ(config.database.url, "postgresql://u:s3cret${X}@h/shop");
  EXPECT_EQ(config.order_table.name, "t_${x}");
  EXPECT_EQ(config.events.at("release_stock").headers.at("A"), "B s3cret${X}");
  EXPECT_EQ(config.log_keep, 7);
  EXPECT_EQ(config.log_level, "warn");
}

TEST(Config, AcceptsTheLimitsOfEachRange) {
  const Config config = config_of(kShort +
                                  "business_lines: {default: {timeout: 1s, grace: 0s},\n"
                                  "                 slow: {timeout: 400d, grace: 400d}}\n"
                                  "redis: {url: \"unix:///run/redis.sock\", poll_interval: 100ms}\n"
                                  "admin: {listen: \"[::1]:0\"}\n"
                                  "sweep: {nightly: \"23:59\", time_zone: Europe/Berlin}\n");
  EXPECT_EQ(config.business_lines.at("default").timeout, 1s);
  EXPECT_EQ(config.business_lines.at("slow").grace, 9600h);
  EXPECT_EQ(config.redis->url, "unix:///run/redis.sock");
  EXPECT_EQ(config.sweep.nightly_minute_of_day, 1439);
}

// YAML 1.1 would make booleans and numbers of most of these.
TEST(Config, TakesEveryTextAsTheNameOfALineExactlyAsItIsWritten) {
  const Config config =
      config_of(kShort +
                "business_lines:\n"
                "  no: {timeout: 1m}\n  on: {}\n  007: {}\n  1:30: {}\n"
                "  NO: {}\n  ~x: {}\n  \"null\": {}\n  \"a b \": {}\n  闪购: {}\n");
  std::vector<std::string> names;
  for (const auto& [name, line] : config.business_lines) names.push_back(name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("no", "on", "007", "1:30", "NO", "~x", "null",
                                                   "a b ", "闪购"));
  EXPECT_EQ(config.business_lines.at("no").timeout, 1min);
  EXPECT_EQ(config.business_lines.at("NO").timeout, 30min);
}

TEST(Config, MayHaveTheLineEndsOfWindows) {
  std::string text = kShort + "log:\n  keep: 3\n  level: warn\n";
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) {
    text.insert(at, 1, '\r');
  }
  EXPECT_EQ(config_of(text), config_of(kShort + "log: {keep: 3, level: warn}\n"));
}

TEST(Config, NamesAnEventsTypeInUpperCase) {
  EXPECT_EQ(event_type_of("release_stock"), "RELEASE_STOCK");
}

}  // namespace
}  // namespace order_timeout
