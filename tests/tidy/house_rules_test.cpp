// The tree keeps the house rules. Each test is one rule over all the files that it concerns; its
// failure lists every place. That the rules find what they are for is shown in rules_test.cpp.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/config_schema.hpp"
#include "tidy/rules.hpp"
#include "tidy/shape_rules.hpp"

namespace order_timeout::tidy {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using Rule = Violations (*)(const SourceFile&);

const std::filesystem::path kRoot = ORDER_TIMEOUT_SOURCE_DIR;

// All C++ files of the tree, read once.
const std::vector<SourceFile>& tree() {
  static const std::vector<SourceFile> files =
      files_below(kRoot, {"include", "src", "tests"}, {".cpp", ".hpp"});
  return files;
}

Violations broken(Rule rule, const std::vector<std::string>& folders,
                  const std::vector<std::string>& exempt = {}) {
  Violations all;
  for (const SourceFile& file : tree()) {
    const auto below = [&file](const std::string& folder) { return is_below(file, folder); };
    if (std::ranges::none_of(folders, below) || std::ranges::any_of(exempt, below)) continue;
    for (std::string& violation : rule(file)) all.push_back(std::move(violation));
  }
  return all;
}

Violations broken_in_texts(Rule rule, const std::vector<std::string>& folders,
                           const std::vector<std::string>& endings) {
  Violations all;
  for (const SourceFile& file : files_below(kRoot, folders, endings)) {
    for (std::string& violation : rule(file)) all.push_back(std::move(violation));
  }
  return all;
}

TEST(HouseRules, TheTreeIsRead) { EXPECT_THAT(tree(), SizeIs(::testing::Gt(50U))); }

TEST(HouseRules, ArrowsBetweenLayersPointDown) {
  EXPECT_THAT(broken(include_direction, {"include/", "src/"}, {"src/asio.cpp"}), IsEmpty());
}

TEST(HouseRules, TheCoreReadsNoClockAndNoEnvironmentAndStartsNoThread) {
  EXPECT_THAT(broken(no_clock_in_core, {"include/", "src/core/"}), IsEmpty());
}

TEST(HouseRules, NothingSleeps) {
  EXPECT_THAT(broken(no_sleep, {"include/", "src/", "tests/"}), IsEmpty());
}

TEST(HouseRules, SqlStandsInItsFolder) {
  EXPECT_THAT(broken(no_sql, {"include/", "src/"},
                     {"src/postgres/statements.cpp", "src/core/config_schema.cpp"}),
              IsEmpty());
}

TEST(HouseRules, NoCoAwaitStatementHoldsABraceALambdaOrATernary) {
  EXPECT_THAT(broken(no_braces_in_co_await, {"include/", "src/", "tests/"}), IsEmpty());
}

TEST(HouseRules, FunctionsHaveAtMostSeventyLines) {
  EXPECT_THAT(broken(no_long_function, {"include/", "src/", "tests/"}), IsEmpty());
}

TEST(HouseRules, FilesHaveAtMostFourHundredLines) {
  EXPECT_THAT(broken(no_long_file, {"include/", "src/", "tests/"}), IsEmpty());
  EXPECT_THAT(broken_in_texts(no_long_file, {"sql"}, {".sql"}), IsEmpty());
}

TEST(HouseRules, NamesAreOfTheFieldAndNotOfTheTrade) {
  EXPECT_THAT(broken(no_banned_name, {"include/", "src/", "tests/"}), IsEmpty());
}

TEST(HouseRules, NothingIsMarkedAsUnfinished) {
  EXPECT_THAT(broken(no_unfinished_work, {"include/", "src/", "tests/"}), IsEmpty());
  const std::vector<std::string> endings{".sql", ".yaml",  ".yml", ".sh",
                                         ".md",  ".cmake", ".txt", ".service"};
  EXPECT_THAT(
      broken_in_texts(no_unfinished_work, {"sql", "config", "docker", "src", "tests"}, endings),
      IsEmpty());
}

TEST(HouseRules, NoTestIsSkipped) { EXPECT_THAT(broken(no_skipped_test, {"tests/"}), IsEmpty()); }

TEST(HouseRules, EveryQuerySaysWhatItIsFor) {
  const auto queries = files_below(kRoot, {"sql/queries"}, {".sql"});
  EXPECT_THAT(queries, SizeIs(::testing::Gt(5U)));
  EXPECT_THAT(broken_in_texts(query_has_header, {"sql/queries"}, {".sql"}), IsEmpty());
}

TEST(HouseRules, EveryMetricIsInTheReadme) {
  std::vector<std::string> metrics;
  for (const SourceFile& file : tree()) {
    if (!is_below(file, "src/telemetry/")) continue;
    for (std::string& name : metrics_of(file)) metrics.push_back(std::move(name));
  }
  EXPECT_THAT(metrics, SizeIs(::testing::Gt(10U)));
  EXPECT_THAT(absent_words(metrics, text_of(kRoot / "README.md")), IsEmpty());
}

// The last word of each key that this version takes; a key's whole path is not written down in
// YAML.
TEST(HouseRules, EveryKeyIsInTheReadmeAndTheExample) {
  std::vector<std::string> keys;
  for (const SchemaRow& row : schema_rows()) {
    const std::string key(row.key.substr(row.key.rfind('.') + 1));
    if (row.built && key != "*") keys.push_back(key);
  }
  EXPECT_THAT(keys, SizeIs(::testing::Gt(20U)));
  EXPECT_THAT(absent_words(keys, text_of(kRoot / "README.md")), IsEmpty());
  EXPECT_THAT(absent_words(keys, text_of(kRoot / "config/order-timeoutd.example.yaml")), IsEmpty());
}

}  // namespace
}  // namespace order_timeout::tidy
