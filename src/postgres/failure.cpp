#include "postgres/failure.hpp"

#include <algorithm>
#include <array>
#include <pqxx/except>
#include <string_view>
#include <utility>

#include "postgres/conninfo.hpp"

namespace order_timeout::postgres {
namespace {

constexpr std::size_t kDetailBytesMax = 400;

// The longest prefix that matches wins: the list is in that order.
constexpr std::array<std::pair<std::string_view, FailureKind>, 19> kBySqlstate{{
    {"40001", FailureKind::conflict},     // serialization failure
    {"40P01", FailureKind::conflict},     // deadlock
    {"55P03", FailureKind::conflict},     // lock not available (lock_timeout, NOWAIT)
    {"40003", FailureKind::unknown},      // statement completion unknown
    {"57014", FailureKind::timed_out},    // statement_timeout, cancelled
    {"57P01", FailureKind::unavailable},  // terminated by an administrator, shutting down
    {"57P02", FailureKind::unavailable},  // another server process crashed
    {"57P03", FailureKind::unavailable},  // starting up, recovering
    {"57P04", FailureKind::unavailable},  // database dropped
    {"57P05", FailureKind::unavailable},  // idle session timeout
    {"25006", FailureKind::unavailable},  // read-only: a standby, or made so
    {"25P03", FailureKind::unavailable},  // idle in transaction timeout
    {"08P01", FailureKind::rejected},     // protocol violation: wrong number of parameters
    {"08", FailureKind::unavailable},     // connection lost or refused
    {"28", FailureKind::unavailable},     // password or role refused
    {"53", FailureKind::unavailable},     // disk full, out of memory, too many connections
    {"58", FailureKind::unavailable},     // input or output error of the server
    {"3D000", FailureKind::unavailable},  // no such database (yet)
    {"40", FailureKind::conflict},        // other rollbacks
}};

FailureKind kind_of(std::string_view sqlstate, std::string_view message) {
  // A row that moves to another partition while it is locked (55000) is met again at its new place.
  if (message.find("already moved") != std::string_view::npos) return FailureKind::conflict;
  const auto* row = std::ranges::find_if(
      kBySqlstate, [&](const auto& entry) { return sqlstate.starts_with(entry.first); });
  return row == kBySqlstate.end() ? FailureKind::rejected : row->second;
}

Failure failure(FailureKind kind, const std::exception& error, std::string sqlstate = "") {
  return Failure{kind, one_line(without_passwords(error.what()), kDetailBytesMax),
                 std::move(sqlstate)};
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0U) != 0x80U) return 0;
  }
  const auto second = length > 1 ? static_cast<unsigned char>(text[at + 1]) : 0;
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool beyond = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return overlong || beyond ? 0 : length;
}

std::string one_line(const std::string& text, std::size_t bytes_max) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const bool control = length == 1 && (text[at] < ' ' || text[at] == '\x7f');
    const std::string piece = length == 0 ? "?" : control ? " " : text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
    if (piece == " " && (line.empty() || line.back() == ' ')) continue;
    if (line.size() + piece.size() > bytes_max) break;
    line += piece;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

Failure classify(const std::exception& error) {
  // Most derived first. libpqxx 6.4 keeps no SQLSTATE for class 40 and for 42501.
  if (const auto* lost = dynamic_cast<const AnswerLost*>(&error)) {
    const bool wrote = lost->statement() == AnswerLost::Statement::writes;
    return failure(wrote ? FailureKind::unknown : FailureKind::unavailable, error,
                   lost->sqlstate());
  }
  if (dynamic_cast<const ConnectFailed*>(&error) != nullptr) {
    return failure(FailureKind::unavailable, error);
  }
  if (dynamic_cast<const pqxx::in_doubt_error*>(&error) != nullptr ||
      dynamic_cast<const pqxx::statement_completion_unknown*>(&error) != nullptr) {
    return failure(FailureKind::unknown, error);
  }
  if (dynamic_cast<const pqxx::serialization_failure*>(&error) != nullptr) {
    return failure(FailureKind::conflict, error, "40001");
  }
  if (dynamic_cast<const pqxx::deadlock_detected*>(&error) != nullptr) {
    return failure(FailureKind::conflict, error, "40P01");
  }
  if (dynamic_cast<const pqxx::transaction_rollback*>(&error) != nullptr) {
    return failure(FailureKind::conflict, error, "40000");
  }
  if (dynamic_cast<const pqxx::broken_connection*>(&error) != nullptr) {
    return failure(FailureKind::unavailable, error);
  }
  if (dynamic_cast<const pqxx::insufficient_privilege*>(&error) != nullptr) {
    return failure(FailureKind::rejected, error, "42501");
  }
  if (const auto* refused = dynamic_cast<const pqxx::sql_error*>(&error)) {
    return failure(kind_of(refused->sqlstate(), error.what()), error, refused->sqlstate());
  }
  return failure(FailureKind::rejected, error);
}

}  // namespace order_timeout::postgres
