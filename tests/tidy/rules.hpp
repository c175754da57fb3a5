// The house rules, each a function from one file to what is wrong with it ("path:line: what"). They
// read text, not syntax: good enough for a formatted tree, and a snippet in rules_test.cpp shows
// each of them at work.
#pragma once

#include <array>
#include <cctype>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tidy/source_text.hpp"

namespace order_timeout::tidy {

using Violations = std::vector<std::string>;

inline bool is_below(const SourceFile& file, std::string_view folder) {
  return file.path.starts_with(folder);
}

// Every line of `text` in which `pattern` is found. Only lines with one of `hints` are looked at: a
// regular expression is slow.
inline Violations lines_with(const SourceFile& file, const std::string& text,
                             const std::vector<std::string>& hints, const std::regex& pattern,
                             const std::string& what) {
  Violations violations;
  const auto is_in = [](const std::string& where) {
    return [&where](const std::string& hint) { return where.find(hint) != std::string::npos; };
  };
  if (std::ranges::none_of(hints, is_in(text))) return violations;
  std::size_t number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    std::smatch found;
    if (std::ranges::any_of(hints, is_in(line)) && std::regex_search(line, found, pattern)) {
      violations.push_back(place(file, number) + what + ": " + found.str());
    }
  }
  return violations;
}

// ---- include direction

// The folder's layer and which includes "…" its files may have.
struct Layer {
  std::string_view folder;
  std::string_view allowed;  // a regular expression for the whole path
};

inline constexpr std::array kLayers{
    Layer{"include/", "order_timeout/.*"},
    Layer{"src/core/", "(order_timeout|core)/.*"},
    Layer{"src/ports.hpp", "order_timeout/.*"},
    Layer{"src/postgres/", "(order_timeout|postgres)/.*|ports\\.hpp"},
    Layer{"src/redis/", "(order_timeout|redis)/.*|ports\\.hpp"},
    Layer{"src/http/", "(order_timeout|http)/.*|ports\\.hpp"},
    Layer{"src/telemetry/", "(order_timeout|telemetry)/.*|ports\\.hpp"},
    Layer{"src/daemon/", "(order_timeout|postgres|redis|http|telemetry|daemon)/.*|ports\\.hpp"},
    Layer{"src/ctl/", "(order_timeout|postgres|redis|http|telemetry|daemon|ctl)/.*|ports\\.hpp"},
};

// A library and the only folders that may know it.
struct LibraryHome {
  std::string_view library;  // a regular expression for the beginning of <…>
  std::string_view folders;  // likewise for the file's path
};

inline constexpr std::array kLibraryHomes{
    LibraryHome{"spdlog/", "src/telemetry/"},
    LibraryHome{"prometheus/", "src/telemetry/"},
    LibraryHome{"pqxx/|libpq-fe", "src/(postgres|ctl)/"},
    LibraryHome{"hiredis/", "src/redis/"},
    LibraryHome{"boost/beast", "src/http/"},
    LibraryHome{"yaml-cpp/|date/", "src/core/.*\\.cpp|src/core/yaml"},
    LibraryHome{"boost/", "src/(ports\\.hpp|postgres|redis|http|telemetry|daemon|ctl)"},
    LibraryHome{"(thread|mutex|shared_mutex|condition_variable|future|semaphore|fstream|filesystem|"
                "iostream)$",
                "src/(postgres|redis|http|telemetry|daemon|ctl)/"},
    LibraryHome{"(unistd|fcntl|signal|poll|netdb|sys/.*|netinet/.*|arpa/.*)\\.h",
                "src/(postgres|redis|http|telemetry|daemon|ctl)/"},
};

inline bool matches(const std::string& text, std::string_view pattern) {
  static std::map<std::string_view, std::regex> compiled;
  const auto [known, is_new] = compiled.try_emplace(pattern);
  if (is_new) known->second = std::regex("^(" + std::string(pattern) + ")");
  return std::regex_search(text, known->second);
}

inline bool is_allowed(const SourceFile& file, const std::string& included, bool is_ours) {
  if (is_ours) {
    return std::ranges::all_of(kLayers, [&](const Layer& layer) {
      return !is_below(file, layer.folder) || matches(included, layer.allowed);
    });
  }
  return std::ranges::all_of(kLibraryHomes, [&](const LibraryHome& home) {
    return !matches(included, home.library) || matches(file.path, home.folders);
  });
}

inline Violations include_direction(const SourceFile& file) {
  static const std::regex include_line(R"re(^\s*#\s*include\s+(["<])([^">]+)[">])re");
  Violations violations;
  std::size_t number = 0;
  for (const std::string& line : lines_of(file.uncommented)) {
    ++number;
    std::smatch found;
    const bool is_include = line.find('#') != std::string::npos;
    if (!is_include || !std::regex_search(line, found, include_line)) continue;
    if (!is_allowed(file, found[2], found[1] == "\"")) {
      violations.push_back(place(file, number) + "this layer may not include " + found.str(2));
    }
  }
  return violations;
}

// ---- forbidden words

inline Violations no_clock_in_core(const SourceFile& file) {
  static const std::vector<std::string> hints{"now",    "time",   "clock",
                                              "getenv", "thread", "random_device"};
  static const std::regex call(
      R"(::now\s*\(\s*\)|\b(time|clock|gettimeofday|clock_gettime)\s*\(|this_thread)"
      R"(|\b(localtime(_r)?|(secure_)?getenv)\s*\(|\bstd::j?thread\b|random_device)");
  return lines_with(file, file.code, hints, call, "the core is told the time and asks nobody");
}

// A member function of that name is another matter.
inline Violations no_sleep(const SourceFile& file) {
  static const std::regex call(
      R"(\b(sleep_for|sleep_until|usleep|nanosleep)\s*\(|(^|[;{}(=!,]|::)\s*sleep\s*\()");
  return lines_with(file, file.code, {"sleep"}, call, "await an event with a deadline instead");
}

// What stands in quotes, by lines.
inline std::string quoted_in(const SourceFile& file) {
  std::string quoted = file.uncommented;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (file.code[i] != ' ' && quoted[i] != '\n') quoted[i] = ' ';
  }
  return quoted;
}

// Only what reads as a statement.
inline Violations no_sql(const SourceFile& file) {
  static const std::vector<std::string> hints{
      "elect", "ELECT", "nsert", "NSERT", "pdate", "PDATE", "elete",   "ELETE",
      "reate", "REATE", "lter",  "LTER",  "rop",   "ROP",   "runcate", "RUNCATE",
      "set ",  "SET ",  "rant",  "RANT",  "evoke", "EVOKE"};
  static const std::regex statement(
      R"(\b(select\s+[\w.*, ]+\s+from\s|select\s+[\w.]+\(|insert\s+into\s|update\s+\S+\s+set\s)"
      R"(|delete\s+from\s\s*\w|(create|alter|drop)\s+(table|view|function|role|schema|index)\s)"
      R"(|truncate\s+table|set\s+local\s|(grant|revoke)\s+\w+\s+on\s))",
      std::regex::icase);
  return lines_with(file, quoted_in(file), hints, statement, "SQL belongs into sql/");
}

// The words are put together here, so that this file does not hold them.
inline Violations no_unfinished_work(const SourceFile& file) {
  static const std::regex mark(std::string(R"(\b(TO)") + "DO|FIX" + "ME|XX" + "X|HA" + R"(CK)\b)");
  return lines_with(file, file.text, {"TO", "FIX", "XX", "HA"}, mark, "finish it");
}

inline Violations no_skipped_test(const SourceFile& file) {
  static const std::regex skip(std::string("GTEST_") + "SKIP|DISA" + "BLED_");
  return lines_with(file, file.text, {"GTEST_", "DISA"}, skip, "no test is skipped");
}

inline bool is_banned_word(std::string word) {
  static const std::array banned{"manager", "helper",    "util", "utility", "common",
                                 "handler", "processor", "data", "info"};
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word.size() > 4 && word.ends_with('s')) word.pop_back();
  return std::ranges::find(banned, word) != banned.end();
}

// snake_case and CamelCase alike.
inline std::vector<std::string> words_of(const std::string& name) {
  static const std::regex word("[A-Z]?[a-z0-9]+|[A-Z]+");
  return {std::sregex_token_iterator(name.begin(), name.end(), word), std::sregex_token_iterator()};
}

inline Violations no_banned_name(const SourceFile& file) {
  static const std::regex type(
      R"(\b(?:enum class|class|struct|enum|union|using)\s+([A-Za-z_]\w*))");
  Violations violations;
  const std::string stem = std::filesystem::path(file.path).stem().string();
  if (std::ranges::any_of(words_of(stem), is_banned_word))
    violations.push_back(place(file, 1) + "banned file name");
  std::size_t number = 0;
  for (const std::string& line : lines_of(file.code)) {
    ++number;
    std::smatch found;
    if (line.find("s") == std::string::npos && line.find("enum") == std::string::npos) continue;
    if (!std::regex_search(line, found, type)) continue;
    if (std::ranges::any_of(words_of(found[1]), is_banned_word)) {
      violations.push_back(place(file, number) + "banned type name: " + found.str(1));
    }
  }
  return violations;
}

// ---- sizes

inline Violations no_long_file(const SourceFile& file) {
  constexpr std::size_t kLinesMax = 400;
  const std::size_t lines = lines_of(file.text).size();
  if (lines <= kLinesMax) return {};
  return {place(file, 1) + std::to_string(lines) + " lines: split it"};
}

// ---- one SQL query a file

inline Violations query_has_header(const SourceFile& file) {
  if (file.text.starts_with("--")) return {};
  return {place(file, 1) + "begins without a comment on its purpose"};
}

// ---- documents

// What the metrics' source registers, without the prefix.
inline std::vector<std::string> metrics_of(const SourceFile& file) {
  static const std::regex registered(R"re(registry,\s*\{"([a-z_]+)"|"order_timeout_([a-z_]+)")re");
  std::vector<std::string> names;
  for (auto at = std::sregex_iterator(file.uncommented.begin(), file.uncommented.end(), registered);
       at != std::sregex_iterator(); ++at) {
    names.push_back((*at)[1].matched ? (*at)[1] : (*at)[2]);
  }
  return names;
}

inline bool is_part_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// As a whole word, order_timeout_ before it or not.
inline bool stands_in(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::string_view before = std::string_view(text).substr(0, at);
    const bool begins =
        at == 0 || !is_part_of_word(before.back()) || before.ends_with("order_timeout_");
    const std::size_t end = at + word.size();
    if (begins && (end == text.size() || !is_part_of_word(text[end]))) return true;
  }
  return false;
}

inline Violations absent_words(const std::vector<std::string>& words, const std::string& text) {
  Violations absent;
  for (const std::string& word : words) {
    if (!stands_in(text, word)) absent.push_back(word);
  }
  return absent;
}

}  // namespace order_timeout::tidy
