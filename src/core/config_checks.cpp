#include <algorithm>
#include <set>
#include <tuple>

#include "core/config_path.hpp"
#include "core/config_reading.hpp"
#include "core/config_urls.hpp"

namespace order_timeout {
namespace {

constexpr std::string_view kOrderNo = "{order_no}";
constexpr std::string_view kHttp = "http://";
constexpr std::int64_t kLeaseMs = 30'000;  // of an outbox event; both timeouts together stay below

class Checks {
 public:
  Checks(const ConfigReading& reading, const std::string& file_name)
      : reading_(reading), file_{Origin::file, file_name, 0, 0} {}

  std::vector<ConfigError> run() {
    check_statuses();
    check_payment_gateway();
    for (const auto& [name, headers] : reading_.events) {
      check_sink(join_path("events", name));
      check_headers(join_path("events", name), headers);
    }
    if (closes_anything()) {
      for (const std::string& line : reading_.lines) check_on_close(line);
    }
    return std::move(errors_);
  }

 private:
  const Reading* find(const std::string& key) const {
    const auto found = reading_.values.find(key);
    return found == reading_.values.end() ? nullptr : &found->second;
  }
  const std::string* text(const std::string& key) const {
    const Reading* reading = find(key);
    return reading == nullptr ? nullptr : std::get_if<std::string>(&reading->value);
  }
  std::int64_t number(const std::string& key) const {
    const Reading* reading = find(key);
    return reading == nullptr ? 0 : std::get<std::int64_t>(reading->value);
  }
  // At the key where it is written, else at the file.
  void fail(const std::string& key, std::string message) {
    const Reading* reading = find(key);
    const bool written = reading != nullptr && reading->place.origin != Origin::standard;
    errors_.push_back(error_at(written ? reading->place : file_, key, std::move(message)));
  }

  void check_statuses() {
    std::set<std::string> seen;
    for (const char* key : {"pending", "closed", "paid"}) {
      const std::string path = join_path("order_table.status", key);
      const std::string* status = text(path);
      if (status != nullptr && !seen.insert(*status).second) {
        fail(path, "pending, closed and paid must differ");
      }
    }
  }

  void check_sink(const std::string& event) {
    const std::string* sink = text(event + ".sink");
    if (sink == nullptr) return;
    if (*sink == "redis_stream") fail(event + ".sink", "redis_stream is not in this version");
    if (*sink == "http") check_http_sink(event);
    if (*sink == "sql") check_sql_sink(event);
    const std::int64_t together =
        number(event + ".connect_timeout") + number(event + ".read_timeout");
    if (together >= kLeaseMs) {
      fail(event + ".read_timeout",
           "connect_timeout and read_timeout together must be less than 30s");
    }
  }

  // A URL that has errors of its own is missing here as well; it is reported once.
  bool has_errors(const std::string& key) const {
    return std::any_of(reading_.errors.begin(), reading_.errors.end(),
                       [&](const ConfigError& error) { return error.key == key; });
  }

  void check_http_sink(const std::string& event) {
    const std::string key = event + ".url";
    if (const std::string* url = text(key)) {
      if (const auto mistake = mistake_in_event_url(*url)) {
        fail(key, mistake->what + "; allowed: http://HOST[:PORT]/PATH");
      }
    } else if (!has_errors(key)) {
      fail(key, "is required with sink: http; allowed: http://HOST[:PORT]/PATH");
    }
    if (find(event + ".statement") != nullptr) {
      fail(event + ".statement", "belongs to sink: sql");
    }
  }

  void check_sql_sink(const std::string& event) {
    if (find(event + ".url") != nullptr) {
      fail(event + ".url", "another database for sink: sql is not in this version; leave it out");
    }
    const std::string key = event + ".statement";
    if (find(key) == nullptr && !has_errors(key)) fail(key, "is required with sink: sql");
  }

  void check_headers(const std::string& event, const std::vector<std::string>& headers) {
    std::set<std::string> seen;
    for (const std::string& name : headers) {
      std::string lowered = name;
      for (char& c : lowered) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      }
      if (!seen.insert(lowered).second) {
        fail(join_path(event + ".headers", name), "the header stands twice; case does not matter");
      }
    }
  }

  void check_payment_gateway() {
    const std::string key = "payment_check.url";
    if (const std::string* url = text(key)) {
      const std::size_t place = url->find(kOrderNo);
      if (place == std::string::npos) {
        fail(key, "{order_no} is missing; allowed: http://HOST[:PORT]/PATH with {order_no} in it");
      } else if (url->find_first_of("/?", kHttp.size()) > place) {
        fail(key, "{order_no} belongs behind the host");
      }
      if (const auto mistake = mistake_in_event_url(without_order_no(*url))) {
        fail(key, mistake->what + "; allowed: http://HOST[:PORT]/PATH with {order_no} in it");
      }
    } else if (!has_errors(key)) {
      check_nobody_asks();
    }
  }

  static std::string without_order_no(std::string url) {
    for (std::size_t at = 0; (at = url.find(kOrderNo)) != std::string::npos;) {
      url.erase(at, kOrderNo.size());
    }
    return url;
  }

  void check_nobody_asks() {
    for (const std::string& line : reading_.lines) {
      const std::string key = join_path("business_lines", line) + ".payment_check";
      if (number(key) == 0) continue;
      const auto& place = find(key)->place;
      if (!reported_.emplace(place.source, place.line, place.column, "payment_check").second) {
        continue;
      }
      fail(key, "there is no section payment_check to ask by");
    }
  }

  bool closes_anything() const {
    return std::any_of(reading_.lines.begin(), reading_.lines.end(), [&](const std::string& line) {
      const std::string* action = text(join_path("business_lines", line) + ".action");
      return action != nullptr && *action == "close";
    });
  }

  // What several lines take from one place is reported once.
  void check_on_close(const std::string& line) {
    const std::string key = join_path("business_lines", line) + ".on_close";
    const Reading* reading = find(key);
    if (reading == nullptr) return;
    for (const std::string& event : std::get<std::vector<std::string>>(reading->value)) {
      if (reading_.events.contains(event)) continue;
      const auto& place = reading->place;
      if (!reported_.emplace(place.source, place.line, place.column, event).second) continue;
      fail(key, "on_close names an event that `events` does not define: " + event);
    }
  }

  const ConfigReading& reading_;
  Place file_;
  std::vector<ConfigError> errors_;
  std::set<std::tuple<std::string_view, int, int, std::string>> reported_;
};

}  // namespace

std::vector<ConfigError> check_across(const ConfigReading& reading, const std::string& file_name) {
  return Checks{reading, file_name}.run();
}

}  // namespace order_timeout
