// Business lines in files of their own: they join those of the main file, a name stands once, and
// what is wrong is reported with the file that it stands in.
#include <gmock/gmock.h>

#include "config_fixture.hpp"

namespace order_timeout {
namespace {

using namespace std::chrono_literals;
using test::errors_of;
using test::kShort;
using test::parsed;
using test::sources_of;

ConfigSources with_files(std::string main, std::vector<std::pair<std::string, std::string>> files) {
  ConfigSources sources = sources_of(std::move(main));
  sources.line_files = std::move(files);
  return sources;
}

TEST(IncludedLines, JoinThoseOfTheMainFileAndTakeFromItsDefault) {
  const auto sources = with_files(kShort + "business_lines: {default: {timeout: 2h, grace: 5s}}\n",
                                  {{"d/a.yaml", "flash: {timeout: 10m}\n"},
                                   {"d/b.yaml", "hotel: {action: review}\nspa: {}\n"},
                                   {"d/c.yaml", "# nothing yet\n"}});
  const ParsedConfig result = parsed(sources);
  ASSERT_EQ(result.config.business_lines.size(), 4U);
  EXPECT_EQ(result.config.business_lines.at("flash").timeout, 10min);
  EXPECT_EQ(result.config.business_lines.at("flash").grace, 5s);
  EXPECT_EQ(result.config.business_lines.at("spa").timeout, 2h);
  EXPECT_EQ(test::value_of(result, "business_lines.flash.timeout").origin, "file d/a.yaml:1");
}

TEST(IncludedLines, MayHoldTheDefaultLine) {
  const Config config = parsed(with_files(kShort, {{"a", "default: {timeout: 5m}\n"}})).config;
  EXPECT_EQ(config.business_lines.at("default").timeout, 5min);
}

TEST(IncludedLines, StandOnceInAllFiles) {
  EXPECT_EQ(errors_of(with_files(kShort + "business_lines: {default: {}, spa: {}}\n",
                                 {{"a", "spa: {}\nflash: {}\n"}, {"b", "\n\nflash: {}\n"}})),
            "a:1:1: business_lines.spa: the line stands twice, first in x.yaml:5\n"
            "b:3:1: business_lines.flash: the line stands twice, first in a:2\n");
}

TEST(IncludedLines, AreReportedWithTheirFileAfterTheMainFile) {
  EXPECT_EQ(
      errors_of(with_files(kShort + "log: {keep: 0}\n",
                           {{"b", "flash: {timeout: 5}\n"}, {"a", "spa: {timeot: 5m}\n"}})),
      "x.yaml:5:13: log.keep: found \"0\": too small; allowed: a whole number from 1 to 1000\n"
      "a:1:7: business_lines.spa.timeot: unknown key, did you mean timeout?\n"
      "b:1:18: business_lines.flash.timeout: found \"5\": a duration needs a unit: 30m; "
      "allowed: a duration from 1s to 400d\n");
}

TEST(IncludedLines, AreMapsOfLinesInPlainYaml) {
  EXPECT_EQ(
      errors_of(with_files(kShort, {{"a", "- spa\n"}, {"b", "spa: &x {}\n"}, {"c", "a: [\n"}})),
      "a:1:1: not a map of business lines\n"
      "b:1:6: business_lines.spa: anchors (&x) are not allowed\n"
      "c:2:1: YAML: end of sequence flow not found\n");
}

}  // namespace
}  // namespace order_timeout
