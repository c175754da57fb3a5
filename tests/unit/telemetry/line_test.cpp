// Proves the log format: one line an entry whatever stands in it, valid UTF-8 without control or
// direction characters, values that read back as they were, JSON that parses. Tables for the known
// cases, random bytes for the rest.
#include "telemetry/line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace order_timeout::telemetry {
namespace {

constexpr Instant kAt = instant_from_ms(1'796'060'926'123);

Entry entry_with(Fields fields) {
  return {.at = kAt,
          .level = Level::info,
          .component = "close",
          .message = "closed",
          .fields = std::move(fields)};
}

std::string text_of(Fields fields) {
  return format_line(entry_with(std::move(fields)), LogFormat::text);
}

std::string json_text_of(Fields fields) {
  return format_line(entry_with(std::move(fields)), LogFormat::json);
}

// How the value `text` stands in a line.
std::string shown(const std::string& text) {
  const std::string line = text_of({{"v", text}});
  const std::size_t begin = line.find(" v=") + 3;
  return line.substr(begin, line.size() - begin - 1);
}

// The inverse of the escapes, for values that were not cut.
std::string read_back(std::string shown_value) {
  if (shown_value.front() == '"') shown_value = shown_value.substr(1, shown_value.size() - 2);
  std::string out;
  for (std::size_t i = 0; i < shown_value.size(); ++i) {
    if (shown_value[i] != '\\') {
      out += shown_value[i];
      continue;
    }
    const char kind = shown_value.at(++i);
    if (kind == 'x') {
      out += static_cast<char>(std::stoi(shown_value.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else if (kind == 'u') {
      const boost::json::value parsed =
          boost::json::parse("\"\\u" + shown_value.substr(i + 1, 4) + "\"");
      out += std::string{parsed.as_string()};
      i += 4;
    } else {
      out += kind == 'n' ? '\n' : kind == 'r' ? '\r' : kind == 't' ? '\t' : kind;
    }
  }
  return out;
}

std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> pieces{
      "a",      " ",      "=", "\"",   "\\",   "\n",           "\x1b[2J",          "\x7f",   "订单",
      "\u202e", "\u2028", "é", "\xff", "\xc3", "\xed\xa0\x80", "\xf0\x9f\x98\x80", "\u0085", ","};
  std::string text;
  const auto length = random() % 60;
  for (std::uint32_t i = 0; i < length; ++i) {
    const auto draw = random() % 24;
    text +=
        draw < pieces.size() ? pieces[draw] : std::string(1, static_cast<char>(random() & 0xFFU));
  }
  return text;
}

TEST(Line, LooksAsTheContractSays) {
  EXPECT_EQ(text_of({{"order_no", "A-1"}, {"order_id", 7}, {"late_ms", std::int64_t{3}}}),
            "2026-11-30T17:48:46.123Z INFO close: closed order_no=A-1 order_id=7 late_ms=3\n");
}

TEST(Line, InJsonIsOneObjectWithTheSameFields) {
  EXPECT_EQ(
      json_text_of({{"order_no", "A-1"}, {"order_id", 7}, {"dry", true}, {"share", 0.5}}),
      R"({"ts":"2026-11-30T17:48:46.123Z","level":"INFO","component":"close","message":"closed",)"
      R"("order_no":"A-1","order_id":7,"dry":true,"share":0.5})"
      "\n");
}

TEST(Line, WithoutAMessageHasNoGap) {
  Entry entry = entry_with({{"pending", 3}});
  entry.component = "stats";
  entry.message = "";
  EXPECT_EQ(format_line(entry, LogFormat::text),
            "2026-11-30T17:48:46.123Z INFO stats: pending=3\n");
}

TEST(Line, QuotesAndEscapesByTheTable) {
  const std::vector<std::pair<std::string, std::string>> table{
      {"plain", "plain"},
      {"", "\"\""},
      {"two words", "\"two words\""},
      {"a=b", "\"a=b\""},
      {"say \"hi\"", "\"say \\\"hi\\\"\""},
      {"back\\slash", "\"back\\\\slash\""},
      {"a\nb\r\tc", "\"a\\nb\\r\\tc\""},
      {std::string("nul\0", 4), "\"nul\\x00\""},
      {"\x1b[31m", "\"\\x1b[31m\""},
      {"del\x7f", "\"del\\x7f\""},
      {"\u2028\u2029", "\"\\u2028\\u2029\""},
      {"\u202e\u2066\u200f", "\"\\u202e\\u2066\\u200f\""},
      {"\u0085", "\"\\u0085\""},
      {"\xff", "\"\\xff\""},
      {"\xc0\xaf", "\"\\xc0\\xaf\""},                    // overlong
      {"\xed\xa0\x80", "\"\\xed\\xa0\\x80\""},           // surrogate
      {"\xf4\x90\x80\x80", "\"\\xf4\\x90\\x80\\x80\""},  // above U+10FFFF
      {"\xe4\xbd", "\"\\xe4\\xbd\""},                    // broken off
      {"订单é😀", "订单é😀"},
  };
  for (const auto& [text, expected] : table) EXPECT_EQ(shown(text), expected);
}

TEST(Line, CutsForeignTextAt128BytesAtTheEndOfACharacter) {
  EXPECT_EQ(shown(std::string(128, 'x')), std::string(128, 'x'));
  EXPECT_EQ(shown(std::string(129, 'x')), std::string(128, 'x') + "…");
  EXPECT_EQ(shown(std::string(127, 'x') + "é!"), std::string(127, 'x') + "…");
  EXPECT_EQ(shown(std::string(125, 'x') + "😀!"), std::string(125, 'x') + "…");
}

TEST(Line, CannotBeForgedByItsOwnValues) {
  const std::string line =
      text_of({{"order_no", "1\n2026-11-30T17:48:46.123Z INFO close: closed order_no=2"}});
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
}

TEST(Line, KeepsStrangeKeysHarmless) {
  EXPECT_THAT(text_of({{"a b\n", 1}, {"", 2}}), testing::HasSubstr(" a_b_=1 _=2\n"));
  const auto object = boost::json::parse(json_text_of({{"ts", "mine"}})).as_object();
  EXPECT_EQ(object.at("ts"), "2026-11-30T17:48:46.123Z");
  EXPECT_EQ(object.at("ts_"), "mine");
}

TEST(Line, NumbersThatJsonCannotSayAreQuoted) {
  const auto object =
      boost::json::parse(json_text_of({{"v", std::numeric_limits<double>::infinity()}}))
          .as_object();
  EXPECT_EQ(object.at("v"), "inf");
}

TEST(Line, OfRandomBytesIsOneLineAndReadsBack) {
  std::mt19937 random{20'261'130};
  for (int round = 0; round < 3'000; ++round) {
    const std::string text = random_text(random);
    const std::string line = text_of({{"v", text}});
    ASSERT_EQ(line.find('\n'), line.size() - 1);
    const bool control = std::any_of(line.begin(), line.end() - 1, [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    ASSERT_FALSE(control) << line;
    boost::json::value quoted = boost::json::string{line};
    ASSERT_NO_THROW(boost::json::parse(boost::json::serialize(quoted))) << "not UTF-8: " << line;
    if (text.size() <= kValueBytesMax) {
      ASSERT_EQ(read_back(shown(text)), text) << line;
    }
  }
}

TEST(Line, OfRandomBytesIsJsonThatParses) {
  std::mt19937 random{7};
  for (int round = 0; round < 3'000; ++round) {
    Entry entry = entry_with({{random_text(random), random_text(random)}});
    entry.component = random_text(random);
    entry.message = random_text(random);
    const std::string line = format_line(entry, LogFormat::json);
    ASSERT_EQ(line.find('\n'), line.size() - 1);
    ASSERT_NO_THROW(boost::json::parse(line)) << line;
  }
}

TEST(FormatInstant, IsRfc3339InUtc) {
  const std::vector<std::pair<Instant, std::string>> table{
      {instant_from_ms(0), "1970-01-01T00:00:00.000Z"},
      {instant_from_ms(-1), "1969-12-31T23:59:59.999Z"},
      {instant_from_ms(951'782'399'999), "2000-02-28T23:59:59.999Z"},
      {instant_from_ms(951'782'400'000), "2000-02-29T00:00:00.000Z"},
      {instant_from_ms(253'402'300'799'999), "9999-12-31T23:59:59.999Z"},
      {instant_from_ms(253'402'300'800'000), "@253402300800000ms"},
      {instant_from_ms(-62'167'219'200'000), "0000-01-01T00:00:00.000Z"},
      {instant_from_ms(-62'167'219'200'001), "@-62167219200001ms"},
      {kNever, "infinity"},
      {kAlways, "-infinity"},
  };
  for (const auto& [instant, expected] : table) EXPECT_EQ(format_instant(instant), expected);
}

TEST(ParseLevel, KnowsTheWordsOfTheConfiguration) {
  EXPECT_EQ(parse_level("trace"), Level::trace);
  EXPECT_EQ(parse_level("error"), Level::error);
  EXPECT_EQ(parse_level("INFO"), std::nullopt);
}

}  // namespace
}  // namespace order_timeout::telemetry
