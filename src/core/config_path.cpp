#include "core/config_path.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace order_timeout {
namespace {

constexpr std::size_t kLongestWord = 64;  // longer ones are never suggested for

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || byte >= 0x80;
}

std::string quoted_segment(std::string_view segment) {
  std::string text = "\"";
  for (const char c : segment) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

// A quoted segment without its quotes; takes it from `rest`.
std::optional<std::string> take_quoted(std::string_view& rest) {
  std::string segment;
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] == '"') {
      rest.remove_prefix(at + 1);
      return segment;
    }
    if (rest[at] == '\\' && at + 1 < rest.size()) ++at;
    segment += rest[at];
  }
  return std::nullopt;
}

std::string take_bare(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('.'), rest.size());
  std::string segment{rest.substr(0, end)};
  rest.remove_prefix(end);
  return segment;
}

// Levenshtein's distance.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string escaped_byte(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return std::string{"\\x"} + kDigits[byte >> 4U] + kDigits[byte & 0xFU];
}

// How many bytes a sequence has that begins with `lead`; 0: none can.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte (RFC 3629,
// section 4).
bool second_byte_fits(unsigned char lead, unsigned char second) {
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second <= 0x9F;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second <= 0x8F;
  return true;
}

bool is_sequence(std::string_view bytes, std::size_t length) {
  if (length == 0 || length > bytes.size()) return false;
  for (std::size_t at = 1; at < length; ++at) {
    if ((static_cast<unsigned char>(bytes[at]) & 0xC0U) != 0x80U) return false;
  }
  const auto lead = static_cast<unsigned char>(bytes[0]);
  return length == 1 || second_byte_fits(lead, static_cast<unsigned char>(bytes[1]));
}

}  // namespace

std::string join_path(const std::string& path, std::string_view segment) {
  const bool plain = !segment.empty() && std::all_of(segment.begin(), segment.end(), is_plain);
  std::string last = plain ? std::string{segment} : quoted_segment(segment);
  return path.empty() ? last : path + "." + last;
}

std::optional<std::vector<std::string>> split_path(std::string_view path) {
  std::vector<std::string> segments;
  while (true) {
    if (path.starts_with('"')) {
      auto segment = take_quoted(path);
      if (!segment) return std::nullopt;
      segments.push_back(std::move(*segment));
    } else {
      segments.push_back(take_bare(path));
      if (segments.back().empty()) return std::nullopt;
    }
    if (path.empty()) return segments;
    if (path.front() != '.') return std::nullopt;
    path.remove_prefix(1);
  }
}

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string_view>& candidates) {
  if (word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t its_distance = distance(word, candidate);
    if (its_distance >= best_distance || its_distance >= candidate.size()) continue;
    best = std::string{candidate};
    best_distance = its_distance;
  }
  return best;
}

std::string quoted_for_message(std::string_view text, std::size_t most) {
  std::string quoted = "\"";
  const bool cut = text.size() > most;
  std::size_t at = 0;
  while (at < text.size() && at < most) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t length = sequence_length(byte);
    if (byte < 0x20 || byte == 0x7F || !is_sequence(text.substr(at), length)) {
      quoted += escaped_byte(byte);
      ++at;
      continue;
    }
    quoted += text.substr(at, length);
    at += length;
  }
  return quoted + (cut ? "...\"" : "\"");
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = sequence_length(static_cast<unsigned char>(text[at]));
    if (!is_sequence(text.substr(at), length)) return at;
    at += length;
  }
  return std::nullopt;
}

}  // namespace order_timeout
