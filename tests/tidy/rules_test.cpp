// A rule that finds nothing may be blind. Here each one is shown a bad snippet, which it must find,
// and a good one that looks like it, which it must let pass.
#include "tidy/rules.hpp"

#include <gmock/gmock.h>

#include <string>

#include "tidy/shape_rules.hpp"

namespace order_timeout::tidy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Violations in_core(Violations (*rule)(const SourceFile&), const std::string& text) {
  return rule(source("src/core/wheel.cpp", text));
}

TEST(SourceText, BlanksCommentsAndLiteralsAndKeepsLines) {
  const SourceFile file =
      source("a.cpp", "int a; // one\n/* two\n */ f(\"th\\\"ree\", 'x', 10'000);\n");
  EXPECT_EQ(file.code, "int a;       \n      \n    f(\"       \", ' ', 10'000);\n");
  EXPECT_THAT(file.uncommented, HasSubstr("th\\\"ree"));
  EXPECT_THAT(file.uncommented, ::testing::Not(HasSubstr("one")));
}

TEST(SourceText, BlanksRawStrings) {
  const SourceFile file = source("a.cpp", "f(R\"x(a \" )\" // b)x\", g); // c");
  EXPECT_EQ(file.code, "f(R\"x(           )x\", g);     ");
}

TEST(SourceText, IsNotFooledByQuotesInComments) {
  EXPECT_EQ(source("a.cpp", "// don't\nint a;").code, "        \nint a;");
}

TEST(IncludeRule, FindsAnArrowThatPointsUpOrSideways) {
  const auto wrong = [](const std::string& path, const std::string& include) {
    return include_direction(source(path, "#include " + include + "\n"));
  };
  EXPECT_THAT(wrong("include/order_timeout/a.hpp", "\"ports.hpp\""),
              ElementsAre(HasSubstr("a.hpp:1: ")));
  EXPECT_THAT(wrong("include/order_timeout/a.hpp", "<boost/asio.hpp>"), SizeIs(1));
  EXPECT_THAT(wrong("include/order_timeout/a.hpp", "<date/tz.h>"), SizeIs(1));
  EXPECT_THAT(wrong("src/core/a.cpp", "<thread>"), SizeIs(1));
  EXPECT_THAT(wrong("src/core/a.cpp", "<unistd.h>"), SizeIs(1));
  EXPECT_THAT(wrong("src/core/a.cpp", "\"redis/url.hpp\""), SizeIs(1));
  EXPECT_THAT(wrong("src/ports.hpp", "\"redis/url.hpp\""), SizeIs(1));
  EXPECT_THAT(wrong("src/redis/a.cpp", "\"postgres/connection.hpp\""), SizeIs(1));
  EXPECT_THAT(wrong("src/redis/a.cpp", "\"daemon/daemon.hpp\""), SizeIs(1));
  EXPECT_THAT(wrong("src/http/a.cpp", "\"telemetry/log.hpp\""), SizeIs(1));
  EXPECT_THAT(wrong("src/daemon/a.cpp", "\"ctl/status.hpp\""), SizeIs(1));
  EXPECT_THAT(wrong("src/daemon/a.cpp", "<spdlog/spdlog.h>"), SizeIs(1));
  EXPECT_THAT(wrong("src/daemon/a.cpp", "<pqxx/pqxx>"), SizeIs(1));
  EXPECT_THAT(wrong("src/postgres/a.cpp", "<hiredis/async.h>"), SizeIs(1));
}

TEST(IncludeRule, LetsArrowsThatPointDownPass) {
  const auto fine = [](const std::string& path, const std::string& include) {
    return include_direction(source(path, "#include " + include + "\n"));
  };
  EXPECT_THAT(fine("include/order_timeout/a.hpp", "\"order_timeout/time.hpp\""), IsEmpty());
  EXPECT_THAT(fine("include/order_timeout/a.hpp", "<chrono>"), IsEmpty());
  EXPECT_THAT(fine("src/core/a.cpp", "<date/tz.h>"), IsEmpty());
  EXPECT_THAT(fine("src/ports.hpp", "<boost/asio/awaitable.hpp>"), IsEmpty());
  EXPECT_THAT(fine("src/redis/a.cpp", "<hiredis/async.h>"), IsEmpty());
  EXPECT_THAT(fine("src/redis/a.cpp", "\"ports.hpp\""), IsEmpty());
  EXPECT_THAT(fine("src/postgres/a.cpp", "<thread>"), IsEmpty());
  EXPECT_THAT(fine("src/daemon/a.cpp", "\"redis/reminder_set.hpp\""), IsEmpty());
}

TEST(ClockRule, FindsClocksThreadsAndTheEnvironment) {
  for (const char* bad :
       {"auto t = Clock::now();", "time(nullptr);", "std::getenv(\"A\");", "std::thread t;",
        "std::this_thread::yield();", "std::random_device seed;", "gettimeofday(&t, 0);"}) {
    EXPECT_THAT(in_core(no_clock_in_core, bad), SizeIs(1)) << bad;
  }
}

TEST(ClockRule, LetsValuesAndWordsPass) {
  for (const char* good : {"Instant due(Instant now);", "// asks Clock::now()", "f(\"::now()\");",
                           "next_due_time(now);"}) {
    EXPECT_THAT(in_core(no_clock_in_core, good), IsEmpty()) << good;
  }
}

TEST(SleepRule, FindsEverySleep) {
  for (const char* bad :
       {"std::this_thread::sleep_for(1s);", "usleep(1);", "sleep(1);", "x.sleep_until(t);"}) {
    EXPECT_THAT(in_core(no_sleep, bad), SizeIs(1)) << bad;
  }
  EXPECT_THAT(in_core(no_sleep, "// no sleep(1)\nf(\"select pg_sleep(1)\"); pg_sleep(2);"),
              IsEmpty());
}

TEST(SqlRule, FindsStatementsInQuotes) {
  for (const char* bad :
       {"f(\"select a, b from t\");", "f(\"SELECT close_orders($1)\");",
        "f(\"update t set a = 1\");", "f(\"insert into t values (1)\");", "f(\"delete from t\");",
        "f(R\"(create table t (a int))\");", "f(\"set local statement_timeout = 1\");"}) {
    EXPECT_THAT(in_core(no_sql, bad), SizeIs(1)) << bad;
  }
}

TEST(SqlRule, LetsSentencesPass) {
  for (const char* good :
       {"f(\"select a page\");", "f(\"SELECT\", \"3\");", "// select a from b",
        "f(\"update changed no row\");", "f(\"deleted from the set\");", "created(\"table\");"}) {
    EXPECT_THAT(in_core(no_sql, good), IsEmpty()) << good;
  }
}

TEST(CoAwaitRule, FindsLambdasBracesAndTernaries) {
  for (const char* bad :
       {"co_await run([batch] { go(); });", "co_await f(T{.a = 1});", "co_await f({1, 2});",
        "x = co_await f(\n    a ? b : c);", "return a ? co_await f() : g();",
        "if (co_await f(T{1})) {}", "while (co_await f(x)) {\n}",
        "do {\n} while (a && co_await f(x));", "auto [a, b] = co_await f([](int) {});"}) {
    EXPECT_THAT(in_core(no_braces_in_co_await, bad), SizeIs(1)) << bad;
  }
}

TEST(CoAwaitRule, LetsNamedValuesPass) {
  for (const char* good : {"auto [a, b] = co_await f(x, asio::as_tuple(asio::use_awaitable));",
                           "if (!co_await f(x)) {\n  g();\n}", "co_await f(list[0]);",
                           "co_await std::move(it);\nauto a = T{1};",
                           "while (busy()) co_await f(x);", "while (true) {\n  co_await f(x);\n}",
                           "f([] { g(); });\nco_await h();", "// co_await f({1});"}) {
    EXPECT_THAT(in_core(no_braces_in_co_await, good), IsEmpty()) << good;
  }
}

std::string body_of(int lines) {
  std::string body;
  for (int i = 0; i < lines; ++i) body += "  step();\n";
  return body;
}

TEST(FunctionRule, FindsOneOfSeventyOneLines) {
  const std::string head = "namespace a {\nvoid f(int x) {\n";
  EXPECT_THAT(in_core(no_long_function, head + body_of(68) + "}\n}\n"), IsEmpty());
  EXPECT_THAT(in_core(no_long_function, head + body_of(69) + "}\n}\n"),
              ElementsAre("src/core/wheel.cpp:2: function of 71 lines"));
}

TEST(FunctionRule, SeesMethodsTestsAndConstructors) {
  const std::string end = body_of(80) + "}\n";
  EXPECT_THAT(in_core(no_long_function, "class A {\n public:\n  int f() const {\n" + end + "};\n"),
              SizeIs(1));
  EXPECT_THAT(in_core(no_long_function, "TEST(A, B) {\n" + end), SizeIs(1));
  EXPECT_THAT(in_core(no_long_function, "A::A(int x)\n    : a_(x),\n      b_{x} {\n" + end),
              SizeIs(1));
  EXPECT_THAT(in_core(no_long_function, "void f() {\n  if (a) {\n" + body_of(80) + "  }\n}\n"),
              SizeIs(1));
}

TEST(FunctionRule, DoesNotCountTablesTypesAndNamespaces) {
  const std::string rows = body_of(80);
  EXPECT_THAT(in_core(no_long_function, "namespace {\n" + rows + "}\n"), IsEmpty());
  EXPECT_THAT(in_core(no_long_function, "struct A {\n" + rows + "};\n"), IsEmpty());
  EXPECT_THAT(in_core(no_long_function, "constexpr std::array kRows{\n" + rows + "};\n"),
              IsEmpty());
  EXPECT_THAT(in_core(no_long_function, "#define A(x) {\nvoid f() {\n}\n" + rows), IsEmpty());
  EXPECT_THAT(in_core(no_long_function, "INSTANTIATE(A,\n  V(B{1},\n" + rows + "  B{2}));\n"),
              IsEmpty());
}

TEST(FileRule, FindsOneOfFourHundredAndOneLines) {
  EXPECT_THAT(in_core(no_long_file, body_of(400)), IsEmpty());
  EXPECT_THAT(in_core(no_long_file, body_of(401)), SizeIs(1));
}

TEST(NameRule, FindsWordsOfTheTradeInFilesAndTypes) {
  EXPECT_THAT(no_banned_name(source("src/core/string_utils.hpp", "")), SizeIs(1));
  EXPECT_THAT(no_banned_name(source("src/core/data.hpp", "")), SizeIs(1));
  EXPECT_THAT(in_core(no_banned_name, "class OrderManager {"), SizeIs(1));
  EXPECT_THAT(in_core(no_banned_name, "struct UserInfo;"), SizeIs(1));
  EXPECT_THAT(in_core(no_banned_name, "enum class DataKind {"), SizeIs(1));
  EXPECT_THAT(in_core(no_banned_name, "using Handlers = int;"), SizeIs(1));
}

TEST(NameRule, LetsWordsThatOnlyContainThemPass) {
  EXPECT_THAT(no_banned_name(source("src/core/database.hpp", "class Database;\nstruct Informed;")),
              IsEmpty());
  EXPECT_THAT(in_core(no_banned_name, "const auto data = x.data(); // class Manager"), IsEmpty());
}

TEST(UnfinishedRule, FindsItsMarks) {
  EXPECT_THAT(in_core(no_unfinished_work, std::string("// TO") + "DO later"), SizeIs(1));
  EXPECT_THAT(in_core(no_unfinished_work, std::string("// FIX") + "ME"), SizeIs(1));
  EXPECT_THAT(in_core(no_unfinished_work, "mkdtemp(\"/tmp/a.XXXXXX\");"), IsEmpty());
}

TEST(SkipRule, FindsASkippedTest) {
  EXPECT_THAT(in_core(no_skipped_test, std::string("GTEST_") + "SKIP();"), SizeIs(1));
  EXPECT_THAT(in_core(no_skipped_test, std::string("TEST(A, DISA") + "BLED_B) {"), SizeIs(1));
  EXPECT_THAT(in_core(no_skipped_test, "TEST(A, SkipsNothing) {"), IsEmpty());
}

TEST(QueryRule, FindsAQueryWithoutAWord) {
  EXPECT_THAT(query_has_header(source("sql/queries/a.sql", "select 1")), SizeIs(1));
  EXPECT_THAT(query_has_header(source("sql/queries/a.sql", "-- What it is for.\nselect 1")),
              IsEmpty());
}

TEST(MetricRule, FindsMetricsAndThoseThatAreNotWrittenDown) {
  const SourceFile file = source("src/telemetry/a.cpp",
                                 "gauges(registry, {\"pending_orders\", \"x\"});\n"
                                 "gauges(\n    registry,\n    {\"paused\"}); "
                                 "f(\"order_timeout_up\"); // \"order_timeout_no\"");
  EXPECT_THAT(metrics_of(file), ElementsAre("pending_orders", "paused", "up"));
  EXPECT_THAT(absent_words(metrics_of(file), "`order_timeout_pending_orders`, `paused`, upper"),
              ElementsAre("up"));
}

}  // namespace
}  // namespace order_timeout::tidy
