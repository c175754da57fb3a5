#include "order_timeout/reminder_member.hpp"

#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

namespace order_timeout {
namespace {

constexpr std::size_t kLongestMember = 128;

// Length of the UTF-8 sequence at the front, 0 where there is none (RFC 3629: no overlong forms, no
// surrogates).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const auto continues = [&](std::size_t at) { return (byte(at) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80U) return 1;
  if (first >= 0xC2U && first <= 0xDFU) return continues(1) ? 2 : 0;
  if (first >= 0xE0U && first <= 0xEFU) {
    if (first == 0xE0U && byte(1) < 0xA0U) return 0;
    if (first == 0xEDU && byte(1) > 0x9FU) return 0;
    return continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    if (first == 0xF0U && byte(1) < 0x90U) return 0;
    if (first == 0xF4U && byte(1) > 0x8FU) return 0;
    return continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

bool is_text(std::string_view member) {
  while (!member.empty()) {
    if (member.front() == '\0') return false;
    const std::size_t length = sequence_length(member);
    if (length == 0) return false;
    member.remove_prefix(length);
  }
  return true;
}

bool is_id(std::string_view member) {
  std::int64_t id = 0;
  const char* const end = member.data() + member.size();
  const auto [stopped, error] = std::from_chars(member.data(), end, id);
  return error == std::errc{} && stopped == end && std::to_string(id) == member;
}

}  // namespace

bool could_name_an_order(std::string_view member, ReminderMember kind) {
  if (member.empty() || member.size() > kLongestMember) return false;
  return kind == ReminderMember::id ? is_id(member) : is_text(member);
}

}  // namespace order_timeout
