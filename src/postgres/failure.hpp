// The one translator from PostgreSQL's and libpqxx's errors to a Failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "order_timeout/outcome.hpp"

namespace order_timeout::postgres {

// No connection could be opened: nothing was sent.
class ConnectFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The connection broke while a statement was running. Where that statement writes (or is COMMIT) it
// may have had its effect, or may still be on its way to it (an absent synchronous standby), so
// that reading proves nothing.
class AnswerLost : public std::runtime_error {
 public:
  enum class Statement : std::uint8_t { reads, writes };
  AnswerLost(Statement statement, const std::string& what, std::string sqlstate)
      : std::runtime_error(what), statement_(statement), sqlstate_(std::move(sqlstate)) {}
  Statement statement() const { return statement_; }
  // Of the server's last words, where it had any.
  const std::string& sqlstate() const { return sqlstate_; }

 private:
  Statement statement_;
  std::string sqlstate_;
};

// One policy per kind (DESIGN 6). The detail is one line, bounded and free of passwords.
Failure classify(const std::exception& error);

// Bytes of the UTF-8 character that begins at `at`, 0 where there is none.
std::size_t utf8_length(std::string_view text, std::size_t at);

// One line, at most `bytes_max` bytes, valid UTF-8 without control characters.
std::string one_line(const std::string& text, std::size_t bytes_max);

}  // namespace order_timeout::postgres
