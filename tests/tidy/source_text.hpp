// Reads the tree's files for the house rules: the text as it is, without comments, and without the
// content of comments and literals. All three have the same lines.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace order_timeout::tidy {

struct SourceFile {
  std::string path;         // from the root, e.g. src/redis/url.cpp
  std::string text;         // as it is
  std::string uncommented;  // comments are blanks
  std::string code;         // comments and what stands in quotes are blanks
};

// Follows a C++ text character by character and blanks out comments and literals.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_(text), uncommented_(text), code_(text) {}

  SourceFile blanked(std::string path) {
    while (at_ < text_.size()) step();
    return {std::move(path), std::string(text_), std::move(uncommented_), std::move(code_)};
  }

 private:
  void step() {
    if (starts("//")) {
      blank_comment(text_.find('\n', at_));
    } else if (starts("/*")) {
      const std::size_t close = text_.find("*/", at_ + 2);
      blank_comment(close == std::string_view::npos ? close : close + 2);
    } else if (starts("R\"") && !follows_word()) {
      const std::size_t open = text_.find('(', at_);
      const std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
      blank_literal(open, text_.find(end, open));
      at_ += end.size() - 1;
    } else if (text_[at_] == '"' || (text_[at_] == '\'' && !follows_word())) {
      blank_literal(at_, end_of_quoted(text_[at_]));
    } else {
      ++at_;
    }
  }

  bool starts(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  // A quote behind a digit separates digits; R behind a letter is no raw string.
  bool follows_word() const {
    return at_ > 0 && std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0;
  }

  std::size_t end_of_quoted(char quote) const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    return std::min(end, text_.size());
  }

  void blank_comment(std::size_t end) {
    end = std::min(end, text_.size());
    blank(uncommented_, at_, end);
    blank(code_, at_, end);
    at_ = end;
  }

  // The quotes stay.
  void blank_literal(std::size_t open, std::size_t close) {
    close = std::min(close, text_.size());
    blank(code_, open + 1, close);
    at_ = close + 1;
  }

  static void blank(std::string& text, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, text.size()); ++i) {
      if (text[i] != '\n') text[i] = ' ';
    }
  }

  std::string_view text_;
  std::string uncommented_;
  std::string code_;
  std::size_t at_ = 0;
};

inline SourceFile source(std::string path, std::string_view text) {
  return Blanker(text).blanked(std::move(path));
}

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::size_t line_at(std::string_view text, std::size_t position) {
  return 1 + static_cast<std::size_t>(std::count(
                 text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
}

inline std::string place(const SourceFile& file, std::size_t line) {
  return file.path + ":" + std::to_string(line) + ": ";
}

// Every file below the given folders of the root with one of the endings, in the order of their
// names.
inline std::vector<SourceFile> files_below(const std::filesystem::path& root,
                                           const std::vector<std::string>& folders,
                                           const std::vector<std::string>& endings) {
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const bool fits =
          std::ranges::find(endings, entry.path().extension().string()) != endings.end();
      if (!entry.is_regular_file() || !fits) continue;
      files.push_back(
          source(entry.path().lexically_relative(root).string(), text_of(entry.path())));
    }
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

}  // namespace order_timeout::tidy
