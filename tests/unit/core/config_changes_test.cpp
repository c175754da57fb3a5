// What differs between two configurations: by value, however it is written, with secrets masked;
// and what of a configuration a snapshot keeps.
#include "order_timeout/config_changes.hpp"

#include <gmock/gmock.h>

#include "config_fixture.hpp"

namespace order_timeout {
namespace {

using test::errors_of;
using test::kShort;
using test::parsed;
using test::sources_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> changes(const std::string& before, const std::string& after) {
  std::vector<std::string> texts;
  for (const ConfigChange& change :
       config_changes(parsed(sources_of(before)), parsed(sources_of(after)))) {
    texts.push_back(to_string(change) + (change.restart ? " RESTART" : ""));
  }
  return texts;
}

TEST(ConfigChanges, AreNoneForTheSameValuesWrittenOtherwise) {
  EXPECT_THAT(changes(kShort, kShort), IsEmpty());
  EXPECT_THAT(changes(kShort + "business_lines: {default: {timeout: 30m}}\n",
                      "# a comment\n" + kShort + "business_lines: {default: {timeout: 1800s}}\n"),
              IsEmpty());
  EXPECT_THAT(changes(kShort, kShort + "log: {keep: 14}\n").size(), 0U) << "an explicit default";
}

TEST(ConfigChanges, NameKeyOldAndNewValue) {
  EXPECT_THAT(changes(kShort + "close: {batch_size: 10}\nlog: {level: info}\n",
                      kShort + "close: {batch_size: 20}\nlog: {level: warn}\n"),
              ElementsAre("close.batch_size: 10 -> 20", "log.level: info -> warn"));
}

TEST(ConfigChanges, KnowWhatNeedsARestart) {
  EXPECT_THAT(changes(kShort, kShort + "admin: {listen: \"127.0.0.1:1\"}\n"),
              ElementsAre("admin.listen: 127.0.0.1:9478 -> \"127.0.0.1:1\" RESTART"));
  const auto with_redis = changes(kShort, kShort + "redis: {zset: z}\n");
  EXPECT_THAT(with_redis,
              testing::Contains("redis.url: unset -> redis://127.0.0.1:6379/0 RESTART"));
  EXPECT_THAT(with_redis, testing::Contains("redis.zset: unset -> z"));
}

TEST(ConfigChanges, ShowLinesThatComeAndGo) {
  const std::string hotel = kShort + "business_lines: {default: {}, \"a.b\": {timeout: 5m}}\n";
  EXPECT_THAT(changes(kShort, hotel),
              testing::Contains("business_lines.\"a.b\".timeout: unset -> 5m"));
  EXPECT_THAT(changes(hotel, kShort),
              testing::Contains("business_lines.\"a.b\".timeout: 5m -> unset"));
}

TEST(ConfigChanges, ShowThatASecretChangedAndNotWhatItIs) {
  const auto with_token = [](const std::string& token) {
    return kShort + "  refund: {url: \"http://127.0.0.1/\", headers: {X: \"" + token + "\"}}\n";
  };
  EXPECT_THAT(changes(with_token("hush-1"), with_token("hush-2")),
              ElementsAre("events.refund.headers.X: \"***\" -> \"***\" (changed)"));
}

TEST(ConfigHash, IsThatOfTheValuesAndNotOfSecrets) {
  const std::string one = config_hash(parsed(sources_of(kShort)));
  EXPECT_EQ(one.size(), 16U);
  EXPECT_EQ(one, config_hash(parsed(sources_of("# other text\n" + kShort))));
  EXPECT_NE(one, config_hash(parsed(sources_of(kShort + "log: {keep: 3}\n"))));
}

TEST(FileText, ReadsBackAsTheSameConfigurationWithVariablesAsWritten) {
  ConfigSources sources = sources_of(
      "database: {url: \"postgresql:///${DB}\"}\n"
      "order_table:\n"
      "  name: t\n"
      "  columns: {version: ~, order_no: \"order \\\"no\\\"\", user_id: \"null\"}\n"
      "  items: {table: i, columns: [\"a, b\", \"c]\"]}\n"
      "business_lines: {default: {}, \"a: \\\"b\\\" #\": {timeout: 5m, on_close: []}}\n"
      "events: {release_stock: {sink: sql, statement: \"a\\tb\\nSELECT '$${x}'\"}}\n");
  sources.environment["DB"] = "secret-name";
  sources.sets.emplace_back("log.keep", "3");
  const ParsedConfig first = parsed(sources);
  EXPECT_THAT(first.file_text, HasSubstr("${DB}"));
  EXPECT_THAT(first.file_text, Not(HasSubstr("secret-name")));
  EXPECT_THAT(first.file_text, Not(HasSubstr("keep")));
  sources.text = first.file_text;
  EXPECT_EQ(errors_of(sources), "") << first.file_text;
  EXPECT_EQ(parsed(sources).config, first.config);
  EXPECT_EQ(parsed(sources).file_text, first.file_text);
}

TEST(FileText, SaysInItsOriginThatItIsASnapshot) {
  ConfigSources sources = sources_of(kShort);
  sources.is_snapshot = true;
  EXPECT_EQ(test::value_of(parsed(sources), "order_table.name").origin, "snapshot x.yaml:2");
}

}  // namespace
}  // namespace order_timeout
