// The house rules that follow brackets: what stands in a co_await statement, and how long a
// function is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tidy/rules.hpp"

namespace order_timeout::tidy {

// g++ 12 destroys some temporaries of a co_await statement twice: no lambda, no brace, no ternary
// in it. One in the condition of a loop makes it generate code that traps: no loop either.
class CoAwaitStatement {
 public:
  CoAwaitStatement(std::string_view code, std::size_t word) : code_(code), co_await_(word) {}

  // Empty: nothing is wrong.
  std::string wrong() const {
    const std::string_view before = code_.substr(begin(), co_await_ - begin());
    if (before.find('?') != std::string_view::npos) return "ternary";
    if (is_condition_of_a_loop(before)) return "condition of a loop";
    int depth = 0;
    for (std::size_t i = co_await_; i < code_.size(); ++i) {
      const char c = code_[i];
      if (c == '{') return "brace";
      if (c == '?') return "ternary";
      if (c == '[' && opens_lambda(i)) return "lambda";
      if (c == '(') ++depth;
      if (c == ')' && --depth < 0) return {};
      if (c == ';' && depth == 0) return {};
    }
    return {};
  }

 private:
  std::size_t begin() const {
    const std::size_t before = code_.substr(0, co_await_).find_last_of(";{}");
    return before == std::string_view::npos ? 0 : before + 1;
  }

  // "while (" with its bracket still open. The body of a loop without braces is behind the bracket.
  static bool is_condition_of_a_loop(std::string_view before) {
    const std::size_t word = before.rfind("while (");
    if (word == std::string_view::npos) return false;
    int depth = 0;
    for (const char c : before.substr(word)) depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    return depth > 0;
  }

  // A bracket behind a name, call or subscript is a subscript.
  bool opens_lambda(std::size_t at) const {
    const std::size_t before = code_.substr(0, at).find_last_not_of(" \n");
    if (before == std::string_view::npos) return true;
    const char c = code_[before];
    return !is_part_of_word(c) && c != ')' && c != ']';
  }

  std::string_view code_;
  std::size_t co_await_;
};

inline Violations no_braces_in_co_await(const SourceFile& file) {
  constexpr std::string_view kWord = "co_await";
  Violations violations;
  for (std::size_t at = file.code.find(kWord); at != std::string::npos;
       at = file.code.find(kWord, at + kWord.size())) {
    const bool is_whole = at == 0 || !is_part_of_word(file.code[at - 1]);
    if (!is_whole || is_part_of_word(file.code[at + kWord.size()]) ||
        file.code.substr(0, at).ends_with("operator "))
      continue;
    const std::string wrong = CoAwaitStatement(file.code, at).wrong();
    if (wrong.empty()) continue;
    violations.push_back(place(file, line_at(file.code, at)) + wrong +
                         " in a co_await statement: name it first");
  }
  return violations;
}

// Finds the outermost braces that follow a parameter list, in namespaces and types, and counts
// their lines.
class FunctionLengths {
 public:
  explicit FunctionLengths(const SourceFile& file) : file_(file) {}

  Violations longer_than(std::size_t lines_max) {
    for (at_ = 0; at_ < file_.code.size(); ++at_) read(file_.code[at_], lines_max);
    return std::move(violations_);
  }

 private:
  enum class Block { scope, function, other };
  struct Open {
    Block block;
    std::size_t line;
  };

  void read(char c, std::size_t lines_max) {
    if (c == '\n') ++line_;
    if (c == '#' && head_.find_first_not_of(" \n") == std::string::npos) skip_directive();
    if (c == '(') ++parentheses_;
    if (c == ')') --parentheses_;
    if (c == '{') {
      blocks_.push_back({kind(), head_line()});
      if (parentheses_ == 0) head_.clear();
    } else if (c == '}') {
      close(lines_max);
    } else if (c == ';' && parentheses_ == 0) {
      head_.clear();
    } else {
      head_ += c;
    }
  }

  void skip_directive() {
    while (at_ < file_.code.size() && file_.code[at_] != '\n') {
      if (file_.code[at_] == '\\') ++line_, ++at_;
      ++at_;
    }
    ++line_;
  }

  bool in_scope() const { return blocks_.empty() || blocks_.back().block == Block::scope; }

  Block kind() const {
    static const std::regex scope(R"((^|[\s>])(namespace|class|struct|union|enum|extern)\b)");
    if (!in_scope() || parentheses_ > 0) return Block::other;
    if (head_.find('(') == std::string::npos && std::regex_search(head_, scope))
      return Block::scope;
    const std::size_t last = head_.find_last_not_of(" \n");
    // Nothing: the body behind a constructor's last initialiser.
    if (last == std::string::npos) return Block::function;
    if (head_[last] == '=' || head_.find('(') == std::string::npos) return Block::other;
    return Block::function;
  }

  std::size_t head_line() const {
    const std::size_t first = std::min(head_.find_first_not_of(" \n"), head_.size());
    return line_ - static_cast<std::size_t>(std::count(
                       head_.begin() + static_cast<std::ptrdiff_t>(first), head_.end(), '\n'));
  }

  void close(std::size_t lines_max) {
    if (blocks_.empty()) return;
    const Open open = blocks_.back();
    blocks_.pop_back();
    if (parentheses_ == 0) head_.clear();
    const std::size_t lines = line_ - open.line + 1;
    if (open.block != Block::function || lines <= lines_max) return;
    violations_.push_back(place(file_, open.line) + "function of " + std::to_string(lines) +
                          " lines");
  }

  const SourceFile& file_;
  Violations violations_;
  std::vector<Open> blocks_;
  std::string head_;  // since the last statement or block
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  int parentheses_ = 0;
};

inline Violations no_long_function(const SourceFile& file) {
  constexpr std::size_t kLinesMax = 70;
  return FunctionLengths(file).longer_than(kLinesMax);
}

}  // namespace order_timeout::tidy
