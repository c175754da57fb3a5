// Hostile files: thousands of good ones with bytes changed, cut, doubled and mixed, always the same
// ones. What must hold for each stands in fuzz/config_target.hpp.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

#include "fuzz/config_target.hpp"

namespace order_timeout {
namespace {

const std::string kSeed =
    "database: {url: \"postgresql://u:${SECRET}@h/${DB}\", connections: 9}\n"
    "order_table:\n"
    "  name: \"sch.select\"\n"
    "  columns: {version: ~, order_no: \"order \\\"no\\\"\", user_id: \"null\"}\n"
    "  status: {pending: 0, closed: \"~\", paid: \"-1\"}\n"
    "  items: {table: i, columns: [\"a, b\", \"c]\"]}\n"
    "business_lines:\n"
    "  default: {timeout: 90s, grace: 0s}\n"
    "  \"a.b \\\"c\\\": #\": {action: review}\n"
    "  hotel: {action: ignore, on_close: []}\n"
    "redis: {url: \"redis://:${file:/x}@h:1/2\", zset: \"z: ${X:-y} $${no}\"}\n"
    "events:\n"
    "  release_stock: {sink: sql, statement: \"SELECT 'a:\\tb';\\nSELECT $1\"}\n"
    "  refund: {url: \"http://127.0.0.1:1/r?a=b\", headers: {A: \"B ${SECRET}\"}}\n"
    "outbox: {backoff: [1s500ms, 100ms], retention: 7d}\n"
    "sweep: {nightly: \"03:00\", time_zone: Asia/Shanghai}\n"
    "log: {level: trace, format: json, max_size: 10KiB}\n";

// Pieces that parsers stumble over.
constexpr std::array kPieces = {"\t",
                                "\n",
                                "\r\n",
                                ": ",
                                "- ",
                                "{",
                                "}",
                                "[",
                                "]",
                                "\"",
                                "'",
                                "#",
                                "&a ",
                                "*a",
                                "<<: ",
                                "!!str ",
                                "---\n",
                                "...\n",
                                "|\n",
                                ">\n",
                                "%YAML",
                                "~",
                                "null",
                                "yes",
                                "0x1F",
                                "1e99",
                                "-5m",
                                "9999999999999d",
                                "${",
                                "$${",
                                "}",
                                "${file:",
                                "${SECRET",
                                "\xff",
                                "\xef\xbb\xbf",
                                "\xc3",
                                "\xe2\x80\xa8",
                                "? ",
                                ", ",
                                "::",
                                "\\",
                                "\\x00",
                                "default:",
                                "\xed\xa0\x80",
                                "30",
                                "1:30",
                                "007",
                                "no: {}\n"};

class Mutations {
 public:
  explicit Mutations(unsigned seed) : random_(seed) {}

  std::string next() {
    std::string text = kSeed;
    const std::size_t changes = 1 + below(4);
    for (std::size_t i = 0; i < changes && !text.empty(); ++i) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  void change(std::string& text) {
    const std::size_t at = below(text.size());
    const std::size_t length = 1 + below(20);
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        return;
      case 1:
        text.erase(at, length);
        return;
      case 2:
        text.resize(at);
        return;
      case 3:
        text.insert(at, text.substr(below(text.size()), 10 * length));
        return;
      default:
        text.insert(at, kPieces[below(kPieces.size())]);
    }
  }

  std::mt19937 random_;
};

TEST(HostileConfigs, AreTakenOrRefusedAndNeverHalfOrLoud) {
  ASSERT_EQ(fuzz::mistake_with(kSeed), "");
  Mutations mutations(20261201);
  for (int i = 0; i < 3'000; ++i) {
    const std::string text = mutations.next();
    ASSERT_EQ(fuzz::mistake_with(text), "") << "number " << i << ":\n" << text;
  }
}

TEST(HostileConfigs, OfOneKindOnlyDoNoHarmEither) {
  for (const char* piece : kPieces) {
    for (const std::size_t times : {1, 100, 20'000}) {
      std::string text;
      for (std::size_t i = 0; i < times; ++i) text += piece;
      ASSERT_EQ(fuzz::mistake_with(text), "") << times << " times " << piece;
    }
  }
}

}  // namespace
}  // namespace order_timeout
