// The schema table is the one truth: its own defaults are legal, and the example file and the
// README say what it says.
#include "core/config_schema.hpp"

#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "config_fixture.hpp"

namespace order_timeout {
namespace {

using test::parsed;
using test::sources_of;
using testing::HasSubstr;
using testing::StartsWith;

std::string content_of(const std::string& path) {
  std::ifstream file{std::string{ORDER_TIMEOUT_SOURCE_DIR} + "/" + path};
  EXPECT_TRUE(file) << path << " is missing";
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

std::string last_segment(std::string_view key) {
  if (key.ends_with(".*")) key.remove_suffix(2);
  return std::string{key.substr(key.rfind('.') + 1)};
}

// The row's key as the example has it.
std::string key_in_example(std::string_view key) {
  std::string concrete{key};
  const auto replace = [&](const std::string& from, const std::string& to) {
    if (concrete.starts_with(from)) concrete = to + concrete.substr(from.size());
  };
  replace("business_lines.*", "business_lines.default");
  replace("events.*", "events.release_stock");
  return concrete;
}

TEST(ConfigSchema, HasEveryKeyOnceWithASentence) {
  std::set<std::string_view> keys;
  for (const SchemaRow& row : schema_rows()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_TRUE(row.sentence.ends_with('.')) << row.key;
    EXPECT_FALSE(allowed_text(row).empty()) << row.key;
  }
  EXPECT_GT(keys.size(), 100U);
}

TEST(ConfigSchema, RequiresTheDatabaseAndTheOrderTableAlone) {
  std::set<std::string_view> required;
  for (const SchemaRow& row : schema_rows()) {
    const bool optional_section = row.key.starts_with("order_table.items.") ||
                                  row.key.starts_with("order_table.payments.") ||
                                  row.key.starts_with("payment_check.");
    if (row.required && !optional_section) required.insert(row.key);
  }
  EXPECT_THAT(required, testing::ElementsAre("database.url", "order_table.name"));
}

TEST(ExampleFile, NamesEveryKeyOfTheSchema) {
  const std::string example = content_of("config/order-timeoutd.example.yaml");
  for (const SchemaRow& row : schema_rows()) {
    const std::regex named{"(^|[\\s{])" + last_segment(row.key) + ":"};
    EXPECT_TRUE(std::regex_search(example, named)) << row.key;
  }
}

TEST(ExampleFile, WritesOutEveryValueAtItsDefault) {
  ConfigSources sources = sources_of(content_of("config/order-timeoutd.example.yaml"));
  const ParsedConfig result = parsed(sources);
  std::map<std::string, ConfigValue> values;
  for (const ConfigValue& value : result.values) values[value.key] = value;
  int compared = 0;
  for (const SchemaRow& row : schema_rows()) {
    if (!row.standard || row.key.starts_with("payment_check.")) continue;
    const std::string key = key_in_example(row.key);
    ASSERT_TRUE(values.contains(key)) << key;
    EXPECT_THAT(values[key].origin, StartsWith("file x.yaml:")) << key;
    std::string value = values[key].value;
    std::erase(value, '"');
    EXPECT_EQ(value, *row.standard) << key;
    ++compared;
  }
  EXPECT_GT(compared, 80);
}

TEST(ExampleFile, IsTheConfigurationOfTheDefaults) {
  const Config example = test::config_of(content_of("config/order-timeoutd.example.yaml"));
  EXPECT_EQ(example.business_lines.at("default"), BusinessLine{});
  EXPECT_EQ(example.redis, RedisConfig{});
  EXPECT_EQ(example.sweep, SweepConfig{});
  EXPECT_EQ(example.order_table.columns, OrderColumns{});
}

// Its text is written by json_schema(): what the table says, editors know.
TEST(JsonSchema, IsTheOneInTheRepository) {
  EXPECT_EQ(content_of("config/order-timeoutd.schema.json"), json_schema())
      << "config/order-timeoutd.schema.json must be:\n"
      << json_schema();
}

// Where the schema describes a key; null where it does not.
const boost::json::value* described(const boost::json::value& schema, std::string_view key) {
  const boost::json::value* node = &schema;
  while (node != nullptr && !key.empty()) {
    const std::size_t dot = std::min(key.find('.'), key.size());
    const std::string_view segment = key.substr(0, dot);
    const bool any = segment == "*";
    const auto* below = node->as_object().if_contains(any ? "additionalProperties" : "properties");
    node = any || below == nullptr ? below : below->as_object().if_contains(segment);
    key.remove_prefix(std::min(dot + 1, key.size()));
  }
  return node;
}

TEST(JsonSchema, DescribesEveryKeyAndRefusesOthers) {
  const boost::json::value schema = boost::json::parse(json_schema());
  EXPECT_EQ(schema.at("additionalProperties"), false);
  for (const SchemaRow& row : schema_rows()) {
    const boost::json::value* node = described(schema, row.key);
    ASSERT_NE(node, nullptr) << row.key;
    const std::string description{node->at("description").as_string()};
    EXPECT_THAT(description, HasSubstr(std::string{row.sentence})) << row.key;
  }
  EXPECT_EQ(described(schema, "log.colour"), nullptr);
}

TEST(JsonSchema, LetsAVariableStandForAnyValue) {
  const boost::json::value schema = boost::json::parse(json_schema());
  const auto& keep = described(schema, "log.keep")->at("anyOf").as_array();
  EXPECT_EQ(keep.at(0),
            (boost::json::value{{"type", "integer"}, {"minimum", 1}, {"maximum", 1000}}));
  EXPECT_EQ(keep.at(1).at("$ref"), "#/definitions/substituted");
  EXPECT_EQ(schema.at("definitions").at("substituted").at("pattern"), "\\$\\{");
}

TEST(ExampleFile, NamesTheSchemaForEditors) {
  EXPECT_THAT(content_of("config/order-timeoutd.example.yaml"),
              StartsWith("# yaml-language-server: $schema=order-timeoutd.schema.json\n"));
}

TEST(Readme, HoldsTheReferenceOfTheSchema) {
  const std::string readme = content_of("README.md");
  const std::size_t begin = readme.find(kReferenceBegin);
  const std::size_t end = readme.find(kReferenceEnd);
  ASSERT_NE(begin, std::string::npos) << "README.md lacks " << kReferenceBegin;
  ASSERT_NE(end, std::string::npos) << "README.md lacks " << kReferenceEnd;
  ASSERT_LT(begin, end);
  const std::string block = readme.substr(begin, end + kReferenceEnd.size() - begin);
  EXPECT_EQ(block, markdown_reference()) << "between the markers must stand:\n"
                                         << markdown_reference();
}

TEST(Readme, NamesEveryKeyOfTheSchema) {
  const std::string readme = content_of("README.md");
  std::string missing;
  for (const SchemaRow& row : schema_rows()) {
    const std::string key = "`" + std::string{row.key} + "`";
    if (readme.find(key) == std::string::npos) missing += key + "\n";
  }
  EXPECT_EQ(missing, "");
}

TEST(MarkdownReference, HasARowAKeyAndEscapesWhatWouldEndACell) {
  const std::string reference = markdown_reference();
  EXPECT_THAT(reference, StartsWith(std::string{kReferenceBegin}));
  EXPECT_THAT(
      reference,
      HasSubstr("| `database.connections` | a whole number from 3 to 100 | `4` | restart | "));
  EXPECT_THAT(reference, HasSubstr("| `redis.member` | order_no \\| id | `order_no` |"));
  EXPECT_THAT(reference, HasSubstr("| `high_availability.shards` | a whole number from 1 to 1024 "
                                   "| `1` | restart | *Not in this version.* "));
}

}  // namespace
}  // namespace order_timeout
