#include "redis/reply.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace order_timeout::redis {
namespace {

Failure unexpected(std::string what) {
  return Failure{FailureKind::rejected, "unexpected reply: " + std::move(what), ""};
}

template <class Number>
std::optional<Number> whole_number(const Reply& reply) {
  if (reply.kind != ReplyKind::text) return std::nullopt;
  Number number{};
  const char* const end = reply.text.data() + reply.text.size();
  const auto [stop, error] = std::from_chars(reply.text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<double> parse_score(std::string_view text) {
  double score = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, score);
  if (error != std::errc{} || stop != end || std::isnan(score)) return std::nullopt;
  return score;
}

std::string score_text(double score) {
  if (std::isinf(score)) return score > 0 ? "inf" : "-inf";
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), score, std::chars_format::general, 17);
  return error == std::errc{} ? std::string(text.data(), end) : std::string("0");
}

Result<ReminderPage> read_page(const Reply& reply) {
  if (reply.kind != ReplyKind::array || reply.elements.size() % 2 != 0) {
    return unexpected("no list of members and scores");
  }
  ReminderPage page;
  page.reminders.reserve(reply.elements.size() / 2);
  for (std::size_t i = 0; i < reply.elements.size(); i += 2) {
    const Reply& member = reply.elements[i];
    const Reply& score = reply.elements[i + 1];
    const auto number = parse_score(score.text);
    if (member.kind != ReplyKind::text || score.kind != ReplyKind::text || !number) {
      return unexpected("a member without a score");
    }
    page.reminders.push_back(Reminder{member.text, *number});
  }
  return page;
}

Result<ReminderPage> read_scan(const Reply& reply) {
  if (reply.kind != ReplyKind::array || reply.elements.size() != 2) {
    return unexpected("no cursor and list");
  }
  const auto cursor = whole_number<std::uint64_t>(reply.elements[0]);
  if (!cursor) return unexpected("the cursor is no number");
  auto page = read_page(reply.elements[1]);
  if (page) page->cursor = *cursor;
  return page;
}

Result<std::optional<double>> read_score(const Reply& reply) {
  if (reply.kind == ReplyKind::nothing) return std::optional<double>{};
  const auto score = parse_score(reply.text);
  if (reply.kind != ReplyKind::text || !score) return unexpected("no score");
  return score;
}

Result<std::int64_t> read_count(const Reply& reply) {
  if (reply.kind != ReplyKind::integer) return unexpected("no count");
  return reply.integer;
}

Result<std::int64_t> read_time_ms(const Reply& reply) {
  if (reply.kind != ReplyKind::array || reply.elements.size() != 2) {
    return unexpected("no seconds and microseconds");
  }
  const auto seconds = whole_number<std::int64_t>(reply.elements[0]);
  const auto microseconds = whole_number<std::int64_t>(reply.elements[1]);
  constexpr std::int64_t kSecondsMax = 1'000'000'000'000;
  if (!seconds || !microseconds || *seconds < 0 || *seconds > kSecondsMax) {
    return unexpected("no time");
  }
  if (*microseconds < 0 || *microseconds > 999'999) return unexpected("no time");
  return *seconds * 1000 + *microseconds / 1000;
}

}  // namespace order_timeout::redis
