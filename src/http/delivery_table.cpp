#include "http/delivery_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <string>

namespace order_timeout::http {
namespace {

constexpr std::size_t kDetailMax = 200;

DeliveryOutcome outcome(DeliveryKind kind, bool attempt_spent, std::string detail) {
  DeliveryOutcome result;
  result.kind = kind;
  result.attempt_spent = attempt_spent;
  result.detail = std::move(detail);
  result.detail.resize(std::min(result.detail.size(), kDetailMax));
  return result;
}

DeliveryOutcome classify_failure(const HttpFailure& failure) {
  std::string detail(to_string(failure.phase));
  detail.append(" ").append(to_string(failure.kind)).append(": ").append(failure.detail);
  if (failure.sent) return outcome(DeliveryKind::uncertain, true, std::move(detail));
  return outcome(DeliveryKind::retry, false, std::move(detail));
}

bool is_sent_later(int status) {
  return status == 408 || status == 425 || status == 429 || status >= 500;
}

// An answer that says not now: the attempt is the sink's, unless it merely failed.
DeliveryOutcome classify_sent_later(const HttpAnswer& answer, std::string detail,
                                    std::int64_t wall_seconds) {
  if (!answer.retry_after) {
    const auto kind = answer.status == 429 ? DeliveryKind::throttled : DeliveryKind::retry;
    return outcome(kind, answer.status >= 500, std::move(detail));
  }
  auto result = outcome(DeliveryKind::throttled, false, std::move(detail));
  const auto date = answer.date ? parse_http_date(*answer.date) : std::nullopt;
  result.retry_after = parse_retry_after(*answer.retry_after, date.value_or(wall_seconds));
  return result;
}

DeliveryOutcome classify_answer(const HttpAnswer& answer, const std::vector<int>& done_codes,
                                std::int64_t wall_seconds) {
  const int status = answer.status;
  std::string detail = "HTTP " + std::to_string(status);
  if (status >= 200 && status < 300) return outcome(DeliveryKind::done, true, std::move(detail));
  if (std::find(done_codes.begin(), done_codes.end(), status) != done_codes.end()) {
    return outcome(DeliveryKind::already_done, true, std::move(detail));
  }
  if (is_sent_later(status)) return classify_sent_later(answer, std::move(detail), wall_seconds);
  if (status == 401 || status == 403) {
    return outcome(DeliveryKind::unhealthy, false, std::move(detail));
  }
  if (status < 400) detail += ", redirects are not followed";
  return outcome(DeliveryKind::rejected, true, std::move(detail));
}

}  // namespace

DeliveryOutcome classify(const HttpResult& result, const std::vector<int>& done_codes,
                         std::int64_t wall_seconds) {
  if (const auto* failure = std::get_if<HttpFailure>(&result)) return classify_failure(*failure);
  return classify_answer(std::get<HttpAnswer>(result), done_codes, wall_seconds);
}

std::optional<Duration> parse_retry_after(std::string_view value, std::int64_t now_seconds) {
  constexpr std::int64_t kSecondsMax = kRetryAfterMax.count() / 1'000;
  if (const auto date = parse_http_date(value)) {
    return std::chrono::seconds(std::clamp<std::int64_t>(*date - now_seconds, 0, kSecondsMax));
  }
  std::uint64_t seconds = 0;
  const char* const end = value.data() + value.size();
  const auto [stopped, error] = std::from_chars(value.data(), end, seconds);
  if (value.empty() || stopped != end) return std::nullopt;
  if (error == std::errc::result_out_of_range) return kRetryAfterMax;
  if (error != std::errc{}) return std::nullopt;
  return std::chrono::seconds(std::min<std::uint64_t>(seconds, kSecondsMax));
}

std::optional<std::int64_t> parse_http_date(std::string_view text) {
  // The names are English as long as nobody calls setlocale(), and nobody here does.
  constexpr std::array<const char*, 3> kForms{"%a, %d %b %Y %H:%M:%S GMT",
                                              "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"};
  const std::string copy(text);
  for (const char* form : kForms) {
    std::tm parts{};
    const char* const end = ::strptime(copy.c_str(), form, &parts);
    if (end != nullptr && end == copy.c_str() + copy.size()) return ::timegm(&parts);
  }
  return std::nullopt;
}

}  // namespace order_timeout::http
