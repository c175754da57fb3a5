// Proves what becomes of each error of PostgreSQL and libpqxx: one row, one policy; and that no
// password and no second line gets into a failure's detail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <pqxx/except>
#include <string>
#include <vector>

#include "postgres/failure.hpp"

namespace order_timeout::postgres {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Row {
  const char* sqlstate;
  FailureKind kind;
};

class SqlstateTable : public ::testing::TestWithParam<Row> {};

TEST_P(SqlstateTable, HasItsPolicy) {
  const pqxx::sql_error error("ERROR:  something", "statement", GetParam().sqlstate);
  const Failure failure = classify(error);
  EXPECT_EQ(failure.kind, GetParam().kind) << GetParam().sqlstate;
  EXPECT_EQ(failure.sqlstate, GetParam().sqlstate);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, SqlstateTable,
    ::testing::Values(
        Row{"40001", FailureKind::conflict}, Row{"40P01", FailureKind::conflict},
        Row{"55P03", FailureKind::conflict}, Row{"40003", FailureKind::unknown},
        Row{"57014", FailureKind::timed_out}, Row{"57P01", FailureKind::unavailable},
        Row{"57P02", FailureKind::unavailable}, Row{"57P03", FailureKind::unavailable},
        Row{"57P05", FailureKind::unavailable}, Row{"25006", FailureKind::unavailable},
        Row{"25P03", FailureKind::unavailable}, Row{"53100", FailureKind::unavailable},
        Row{"53200", FailureKind::unavailable}, Row{"53300", FailureKind::unavailable},
        Row{"08000", FailureKind::unavailable}, Row{"08006", FailureKind::unavailable},
        Row{"08P01", FailureKind::rejected}, Row{"28P01", FailureKind::unavailable},
        Row{"28000", FailureKind::unavailable}, Row{"3D000", FailureKind::unavailable},
        Row{"58030", FailureKind::unavailable}, Row{"23505", FailureKind::rejected},
        Row{"42501", FailureKind::rejected}, Row{"42P01", FailureKind::rejected},
        Row{"42703", FailureKind::rejected}, Row{"P0001", FailureKind::rejected},
        Row{"55000", FailureKind::rejected}));

TEST(Classify, TakesARowThatMovedToAnotherPartitionForAConflict) {
  const pqxx::sql_error error(
      "ERROR:  tuple to be locked was already moved to another partition due to concurrent update",
      "statement", "55000");
  EXPECT_EQ(classify(error).kind, FailureKind::conflict);
}

TEST(Classify, TakesALostAnswerOfAWriteForUnknown) {
  const AnswerLost error(AnswerLost::Statement::writes, "server closed the connection", "57P01");
  EXPECT_EQ(classify(error).kind, FailureKind::unknown);
  EXPECT_EQ(classify(error).sqlstate, "57P01");
}

TEST(Classify, TakesALostAnswerOfAReadForUnavailable) {
  const AnswerLost error(AnswerLost::Statement::reads, "server closed the connection", "");
  EXPECT_EQ(classify(error).kind, FailureKind::unavailable);
}

TEST(Classify, TakesACommitInDoubtForUnknown) {
  EXPECT_EQ(classify(pqxx::in_doubt_error("lost")).kind, FailureKind::unknown);
}

// libpqxx throws these without a SQLSTATE.
TEST(Classify, KnowsTheClassesOfLibpqxx) {
  EXPECT_EQ(classify(pqxx::serialization_failure("x")).kind, FailureKind::conflict);
  EXPECT_EQ(classify(pqxx::deadlock_detected("x")).kind, FailureKind::conflict);
  EXPECT_EQ(classify(pqxx::broken_connection("x")).kind, FailureKind::unavailable);
  EXPECT_EQ(classify(ConnectFailed("x")).kind, FailureKind::unavailable);
  EXPECT_EQ(classify(pqxx::insufficient_privilege("x")).kind, FailureKind::rejected);
  EXPECT_EQ(classify(pqxx::insufficient_privilege("x")).sqlstate, "42501");
}

TEST(Classify, RejectsWhatItDoesNotKnow) {
  EXPECT_EQ(classify(std::runtime_error("surprise")).kind, FailureKind::rejected);
}

TEST(Classify, GivesOneBoundedLine) {
  const std::string detail =
      classify(pqxx::sql_error("ERROR:  no\nLINE 1: select\n\t^\n" + std::string(900, 'x'), "", ""))
          .detail;
  EXPECT_THAT(detail, Not(HasSubstr("\n")));
  EXPECT_THAT(detail, HasSubstr("ERROR: no LINE 1: select ^ x"));
  EXPECT_LE(detail.size(), 400U);
}

TEST(Classify, LetsNoPasswordThrough) {
  for (const char* text :
       {"cannot connect with password=geheim host=x", "password = 'ge\\'heim geheim' is wrong",
        "to postgresql://shop:geheim@db/shop failed"}) {
    EXPECT_THAT(classify(ConnectFailed(text)).detail, Not(HasSubstr("heim"))) << text;
  }
}

TEST(OneLine, ReplacesWhatIsNoUtf8AndCutsAtACharacter) {
  EXPECT_EQ(one_line("a\xff\xc0\x80\xed\xa0\x80z", 100), "a??????z");
  EXPECT_EQ(one_line("a\xe2\x82\xac", 3), "a");
  EXPECT_EQ(one_line("a\xe2\x82\xac", 4), "a\xe2\x82\xac");
  EXPECT_EQ(one_line(std::string("a\0b\x7f", 4), 100), "a b");
}

}  // namespace
}  // namespace order_timeout::postgres
