#include "telemetry/folding.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace order_timeout::telemetry {
namespace {

std::string_view value_of(const Entry& entry, std::string_view key) {
  const auto found = std::find_if(entry.fields.begin(), entry.fields.end(),
                                  [key](const Field& field) { return field.key == key; });
  return found == entry.fields.end() ? std::string_view{} : std::string_view{found->value};
}

std::string kind_of(const Entry& entry) {
  std::string_view cause = value_of(entry, "cause");
  if (cause.empty()) cause = value_of(entry, "error");
  std::string kind{static_cast<char>('0' + static_cast<int>(entry.level))};
  for (const std::string_view part :
       {std::string_view{entry.component}, std::string_view{entry.message}, cause}) {
    kind += part.substr(0, kMessageBytesMax);
    kind += '\0';
  }
  return kind;
}

Entry folded(Entry entry, std::int64_t repeated) {
  entry.fields.emplace_back("repeated", repeated);
  entry.fields.emplace_back("last", entry.at);
  return entry;
}

}  // namespace

bool Folding::admit(const Entry& entry, TimePoint now) {
  if (entry.level < Level::warn || entry.is_change) return true;
  std::string key = kind_of(entry);
  const auto found = kinds_.find(key);
  if (found != kinds_.end()) {
    ++found->second.repeated;
    found->second.last = entry;
    return false;
  }
  if (kinds_.size() < kKindsMax) {
    kinds_.emplace(std::move(key), Kind{.since = now, .repeated = 0, .last = {}});
  }
  return true;
}

std::vector<Entry> Folding::due(TimePoint now) {
  std::vector<Entry> lines;
  for (auto at = kinds_.begin(); at != kinds_.end();) {
    Kind& kind = at->second;
    if (now - kind.since < kWindow) {
      ++at;
    } else if (kind.repeated == 0) {
      at = kinds_.erase(at);
    } else {
      lines.push_back(folded(std::move(kind.last), kind.repeated));
      kind = Kind{.since = now, .repeated = 0, .last = {}};
      ++at;
    }
  }
  return lines;
}

std::vector<Entry> Folding::drain() {
  std::vector<Entry> lines;
  for (auto& [key, kind] : kinds_) {
    if (kind.repeated > 0) lines.push_back(folded(std::move(kind.last), kind.repeated));
  }
  kinds_.clear();
  return lines;
}

}  // namespace order_timeout::telemetry
