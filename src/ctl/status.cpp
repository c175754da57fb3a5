// status: what the daemon says on its control socket, else what it last wrote to status.json, and
// what the database says with or without a daemon.
#include <boost/json.hpp>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include "ctl/control_client.hpp"
#include "ctl/invocation.hpp"
#include "ctl/session.hpp"
#include "daemon/exit_code.hpp"
#include "daemon/loop_clock.hpp"

namespace order_timeout::ctl {
namespace {

namespace json = boost::json;

constexpr Duration kFresh{30'000};  // status.json is written every 10 s

constexpr Duration kPatience{3'000};

std::optional<json::object> read_status(const Config& config) {
  Result<json::object> told =
      ask_daemon(config.admin_socket, json::object{{"verb", "status"}}, kPatience);
  if (told && told->contains("at_ms")) return *told;
  std::ifstream file(config.log_directory + "/status.json");
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  json::error_code error;
  json::value value = json::parse(text.str(), error);
  if (error || !value.is_object()) return std::nullopt;
  return value.as_object();
}

Result<json::object> read_database(const Invocation& invocation) {
  Result<Session> session = Session::open(invocation);
  if (!session) return session.error();
  Result<postgres::Rows> orders = session->read("order_overview");
  if (!orders) return orders.error();
  Result<postgres::Rows> events = session->read("count_events");
  if (!events) return events.error();
  json::object document{
      {"pending", orders->integer(0, 0)},     {"held", orders->integer(0, 1)},
      {"quarantined", orders->integer(0, 2)}, {"too_old", orders->integer(0, 3)},
      {"overdue", orders->integer(0, 4)},     {"oldest_overdue_seconds", orders->real(0, 5)},
      {"not_listed", orders->integer(0, 6)}};
  json::array outbox;
  for (int row = 0; row < events->size(); ++row) {
    outbox.push_back(json::object{{"event_type", events->text(row, 0)},
                                  {"status", events->text(row, 1)},
                                  {"events", events->integer(row, 2)}});
  }
  document["outbox"] = std::move(outbox);
  return document;
}

void print_object(const std::string& heading, const json::object& object) {
  std::cout << heading << '\n';
  for (const auto& [key, value] : object) {
    std::cout << "  " << std::string_view(key) << ": " << json::serialize(value) << '\n';
  }
}

}  // namespace

int status(const Invocation& invocation) {
  const std::optional<json::object> daemon = read_status(invocation.config);
  std::int64_t age_ms = -1;
  if (daemon && daemon->contains("at_ms")) {
    age_ms = to_ms(daemon::LoopClock::host()) - daemon->at("at_ms").to_number<std::int64_t>();
  }
  const bool fresh = daemon && age_ms >= 0 && Duration{age_ms} <= kFresh;
  Result<json::object> database = read_database(invocation);

  json::object document;
  document["daemon"] = daemon ? json::value(*daemon) : json::value(nullptr);
  document["daemon_fresh"] = fresh;
  document["database"] = database ? json::value(*database) : json::value(nullptr);
  if (invocation.json) {
    std::cout << json::serialize(document) << '\n';
  } else {
    const std::string age = std::to_string(age_ms / 1000) + " s ago";
    if (daemon)
      print_object(std::string("daemon (") + (fresh ? "" : "STALE, ") + "written " + age + ")",
                   *daemon);
    if (!daemon)
      std::cout << "daemon: no status.json in " << invocation.config.log_directory << '\n';
    if (database) print_object("database", *database);
  }
  if (!database) return report(database.error());
  return fresh ? kSuccess : kProblemsFound;
}

}  // namespace order_timeout::ctl
