// --print-config: what is printed reads back as the same configuration, and no secret is ever
// printed or named in an error.
#include <gmock/gmock.h>

#include "config_fixture.hpp"
#include "core/config_urls.hpp"

namespace order_timeout {
namespace {

using test::config_of;
using test::errors_of;
using test::kShort;
using test::parsed;
using test::sources_of;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kRich =
    "database: {url: \"host=/tmp dbname='my shop'\", connections: 9}\n"
    "order_table:\n"
    "  name: \"sch\\u00e9ma.select\"\n"
    "  columns: {version: ~, order_no: \"order \\\"no\\\"\", user_id: \"null\"}\n"
    "  status: {pending: 0, closed: \"~\", paid: \"-1\"}\n"
    "  items: {table: i, columns: [\"a, b\", \"c]\"]}\n"
    "  payments: {table: p, paid: [\"# 1\", \"\\\\\"], in_progress: []}\n"
    "business_lines:\n"
    "  default: {timeout: 90s}\n"
    "  \"a.b \\\"c\\\": #\": {action: review}\n"
    "  hotel: {action: ignore, on_close: []}\n"
    "redis: {zset: \"z: ${X:-y} $${no}\"}\n"
    "events:\n"
    "  release_stock: {sink: sql, statement: \"SELECT 'a:\\tb';\\nSELECT $1\"}\n"
    "  refund: {url: \"http://127.0.0.1:1/r?a=b&c\", done_codes: [], read_timeout: 20ms}\n"
    "outbox: {backoff: [1s500ms, 100ms]}\n"
    "log: {level: trace, format: json, max_size: 10KiB}\n";

TEST(PrintConfig, ReadsBackAsTheSameConfiguration) {
  for (const std::string& text : {kShort, std::string{kRich}, kShort + "redis: {}\n"}) {
    const ParsedConfig first = parsed(sources_of(text));
    const std::string printed = print_config(first);
    EXPECT_EQ(errors_of(sources_of(printed)), "") << printed;
    EXPECT_EQ(config_of(printed), first.config) << printed;
  }
}

TEST(PrintConfig, SaysWhereEachValueComesFrom) {
  ConfigSources sources = sources_of(kShort);
  sources.sets.emplace_back("log.keep", "3");
  sources.environment["ORDER_TIMEOUTD_SET__log__level"] = "warn";
  const std::string printed = print_config(parsed(sources));
  EXPECT_THAT(printed, HasSubstr("  name: t_order  # file x.yaml:2\n"));
  EXPECT_THAT(printed, HasSubstr("log:\n  directory: /var/log/order-timeoutd  # default\n"
                                 "  level: warn  # environment ORDER_TIMEOUTD_SET__log__level\n"));
  EXPECT_THAT(printed, HasSubstr("  keep: 3  # command line\n"));
}

ConfigSources with_secrets() {
  ConfigSources sources = sources_of(
      "database: {url: \"postgresql://u:hush-1@h/shop?sslpassword=hush-2&a=b\"}\n"
      "order_table: {name: t_order}\n"
      "redis: {url: \"redis://:${file:/run/redis}@h:6379/0\", zset: \"${file:/run/zset}\"}\n"
      "events:\n"
      "  release_stock:\n"
      "    url: \"http://127.0.0.1/x?token=hush-6\"\n"
      "    headers: {Authorization: \"Bearer hush-5\", X-Env: \"${TOKEN}\"}\n");
  sources.environment["TOKEN"] = "hush-7";
  sources.read_file = [](const std::string& path) -> Result<std::string> {
    return std::string{path == "/run/redis" ? "hush-3" : "hush-4"};
  };
  return sources;
}

TEST(PrintConfig, MasksEverySecretAndLittleElse) {
  const ParsedConfig result = parsed(with_secrets());
  const std::string printed = print_config(result);
  EXPECT_THAT(printed, Not(HasSubstr("hush")));
  EXPECT_THAT(printed, HasSubstr("url: \"postgresql://u:***@h/shop?sslpassword=***&a=b\""));
  EXPECT_THAT(printed, HasSubstr("url: \"redis://:***@h:6379/0\""));
  EXPECT_THAT(printed, HasSubstr("zset: \"***\""));
  EXPECT_THAT(printed, HasSubstr("url: \"http://127.0.0.1/x?token=***\""));
  EXPECT_THAT(printed, HasSubstr("Authorization: \"***\""));
  EXPECT_THAT(printed, HasSubstr("X-Env: \"***\""));
  EXPECT_EQ(result.config.redis->zset, "hush-4");
}

TEST(PrintConfig, MasksThePasswordOnlyWhereAFileHoldsTheWholeUrl) {
  ConfigSources sources = sources_of(kShort);
  sources.sets.emplace_back("database.url", "\"${file:/run/url}\"");
  sources.read_file = [](const std::string&) -> Result<std::string> {
    return std::string{"host=h user=u password='hu sh' dbname=d"};
  };
  EXPECT_THAT(print_config(parsed(sources)),
              HasSubstr("url: \"host=h user=u password=*** dbname=d\"  # command line"));
}

TEST(ConfigErrors, NeverShowASecret) {
  ConfigSources sources = with_secrets();
  sources.environment["PORT"] = "hush-8";
  sources.sets = {{"database.url", "\"postgresql:/u:hush-1@h/shop\""},
                  {"redis.url", "\"http://:hush-3@h\""},
                  {"redis.poll_interval", "\"${file:/run/redis}\""},
                  {"events.release_stock.url", "\"http://u:hush-6@127.0.0.1/\""},
                  {"events.release_stock.headers.Host", "hush-5"},
                  {"events.release_stock.headers.X", "\"hush\\n5\""},
                  {"alert.webhook", "\"http://h/hush-9\""},
                  {"database.read_url", "\"postgresql://u:hush-9@h\""},
                  {"databse", "{url: \"postgresql://u:hush-1@h\"}"},
                  {"log.keep", "\"${PORT}\""},
                  {"log.level", "\"${HUSH:-hush-0\""}};
  const std::string errors = errors_of(sources);
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 11) << errors;
  EXPECT_THAT(errors, Not(HasSubstr("hush")));
}

TEST(MaskPasswords, FindsThemInEveryFormOfUrlAndKeyValueString) {
  const auto masked = [](const char* text) { return mask_passwords(text); };
  EXPECT_EQ(masked("postgresql:///shop"), "postgresql:///shop");
  EXPECT_EQ(masked("postgresql://h:5432,i:5433/shop"), "postgresql://h:5432,i:5433/shop");
  EXPECT_EQ(masked("postgresql://u@h/d"), "postgresql://u@h/d");
  EXPECT_EQ(masked("postgresql://u:p@h:1/d"), "postgresql://u:***@h:1/d");
  EXPECT_EQ(masked("postgresql://u:p@w@h/d"), "postgresql://u:***@h/d");
  EXPECT_EQ(masked("postgresql://u:p/w@h/d"), "postgresql://u:***@h/d");
  EXPECT_EQ(masked("postgresql://u:p?w@h/d"), "postgresql://u:***@h/d");
  EXPECT_EQ(masked("postgresql://h/d?pass%77ord=p&user=u"),
            "postgresql://h/d?pass%77ord=***&user=u");
  EXPECT_EQ(masked("redis://u:p@h"), "redis://u:***@h");
  EXPECT_EQ(masked("unix://u:p@/run/redis.sock"), "unix://u:***@/run/redis.sock");
  EXPECT_EQ(masked("host=h password=p dbname=d"), "host=h password=*** dbname=d");
  EXPECT_EQ(masked("password = p://x"), "password = ***");
  EXPECT_EQ(masked("password='a b\\' c' host=h"), "password=*** host=h");
  EXPECT_EQ(masked("password=a\\ b host=h"), "password=*** host=h");
  EXPECT_EQ(masked("password='never closed host=h"), "password=***");
}

}  // namespace
}  // namespace order_timeout
