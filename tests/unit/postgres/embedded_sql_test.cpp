// Proves that the programs carry sql/ byte for byte, and that a file that is not there is a loud
// mistake.
#include "postgres/embedded_sql.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace order_timeout::postgres {
namespace {

namespace fs = std::filesystem;

TEST(EmbeddedSql, HoldsEveryFileOfItsFoldersByteForByte) {
  const fs::path root = fs::path(ORDER_TIMEOUT_SOURCE_DIR) / "sql";
  for (const std::string folder : {"migrations", "functions", "queries"}) {
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      EXPECT_EQ(embedded_sql(folder + '/' + entry.path().filename().string()), text);
      ++files;
    }
    EXPECT_EQ(embedded_sql_paths(folder).size(), files);
    EXPECT_GT(files, 0U);
  }
}

TEST(EmbeddedSql, ListsAFolderInOrder) {
  const auto migrations = embedded_sql_paths("migrations");
  EXPECT_TRUE(std::ranges::is_sorted(migrations));
  EXPECT_EQ(migrations.front(), "migrations/0001_rules.sql");
  EXPECT_THAT(embedded_sql_paths("nothing"), ::testing::IsEmpty());
}

TEST(EmbeddedSqlDeathTest, AnUnknownPathEndsTheProgramAndIsNamed) {
  EXPECT_DEATH(embedded_sql("queries/no_such.sql"), "no file sql/queries/no_such.sql");
}

}  // namespace
}  // namespace order_timeout::postgres
