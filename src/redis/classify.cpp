#include "redis/classify.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace order_timeout::redis {
namespace {

struct Row {
  std::string_view begins_with;
  FailureKind kind;
  bool reconnect;
  std::string_view remedy;
};

constexpr auto kDown = FailureKind::unavailable;

// The first row that fits decides: a longer beginning stands before a shorter one.
constexpr std::array kRows{
    Row{"LOADING", kDown, false, "it reads its dump: wait"},
    Row{"READONLY", kDown, true, "a replica: give the address of the primary"},
    Row{"MASTERDOWN", kDown, false, "a replica without its primary"},
    Row{"NOAUTH", kDown, true, "it wants a password: set it in redis.url"},
    Row{"WRONGPASS", kDown, true, "wrong user or password in redis.url"},
    Row{"NOPERM", kDown, false, "the user may not run this command or use this key"},
    Row{"DENIED", kDown, true, "protected mode: set a password or bind address"},
    Row{"MOVED", kDown, false, "a cluster is not supported: give one server"},
    Row{"ASK", kDown, false, "a cluster is not supported: give one server"},
    Row{"CLUSTERDOWN", kDown, false, "a cluster is not supported: give one server"},
    Row{"CROSSSLOT", kDown, false, "a cluster is not supported: give one server"},
    Row{"WRONGTYPE", kDown, false, "the key redis.zset is no sorted set"},
    Row{"BUSY", kDown, false, "a script runs for too long"},
    Row{"MISCONF", kDown, false, "it refuses writes: its dump cannot be saved"},
    Row{"NOREPLICAS", kDown, false, "it refuses writes: too few replicas"},
    Row{"TRYAGAIN", FailureKind::conflict, false, "keys are moving: again soon"},
    Row{"OOM", FailureKind::rejected, false, "maxmemory is reached: the write was dropped"},
    Row{"NOSCRIPT", FailureKind::rejected, false, "scripts were flushed"},
    Row{"EXECABORT", FailureKind::rejected, false, "the transaction was discarded"},
    Row{"ERR max number of clients", kDown, true, "maxclients is reached"},
    Row{"ERR", FailureKind::rejected, false, "it does not take the command"},
};

std::string_view code_of(std::string_view error) { return error.substr(0, error.find(' ')); }

// At the end of a word, so that MOVEDX is not MOVED.
bool fits(const Row& row, std::string_view error) {
  if (!error.starts_with(row.begins_with)) return false;
  return error.size() == row.begins_with.size() || error[row.begins_with.size()] == ' ';
}

std::string printable(std::string_view text) {
  constexpr std::size_t kPrintableMax = 120;
  std::string line(text.substr(0, kPrintableMax));
  std::ranges::replace_if(
      line, [](char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

const Row* row_of(std::string_view error) {
  const auto* const row =
      std::ranges::find_if(kRows, [error](const Row& each) { return fits(each, error); });
  return row == kRows.end() ? nullptr : row;
}

}  // namespace

Classified classify(std::string_view error) {
  const Row* const row = row_of(error);
  if (row == nullptr) return {Failure{FailureKind::rejected, printable(error), ""}, false};
  std::string detail = printable(error) + " (" + std::string(row->remedy) + ")";
  return {Failure{row->kind, std::move(detail), ""}, row->reconnect};
}

Failure classify_handshake(std::string_view command, std::string_view error) {
  const Row* const row = row_of(error);
  const std::string_view code = code_of(error);
  const bool is_code = std::ranges::all_of(code, [](char c) { return c >= 'A' && c <= 'Z'; });
  std::string detail = std::string(command) + " refused";
  if (is_code) detail += ": " + std::string(code);
  if (row != nullptr && row->begins_with != "ERR") detail += " (" + std::string(row->remedy) + ")";
  return Failure{FailureKind::unavailable, std::move(detail), ""};
}

}  // namespace order_timeout::redis
