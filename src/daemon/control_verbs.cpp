#include "daemon/control_verbs.hpp"

#include <boost/json.hpp>
#include <utility>

namespace order_timeout::daemon {
namespace {

namespace json = boost::json;

std::string plain_answer(const std::string& result, const std::string& message) {
  return json::serialize(json::object{{"result", result}, {"message", message}});
}

std::string text_of(const ReloadAnswer& answer) {
  json::array mistakes;
  for (const ConfigError& mistake : answer.mistakes) {
    const std::string text = to_string(mistake);
    mistakes.emplace_back(text);
  }
  json::array changes;
  for (const ConfigChange& change : answer.changes) {
    const std::string text = to_string(change);
    changes.emplace_back(text);
  }
  const json::array preview(answer.preview.begin(), answer.preview.end());
  return json::serialize(json::object{{"result", result_of(answer.end)},
                                      {"reason", to_string(answer.end)},
                                      {"message", answer.message},
                                      {"errors", std::move(mistakes)},
                                      {"changes", std::move(changes)},
                                      {"preview", preview},
                                      {"due_at_once", answer.due_at_once},
                                      {"revision", answer.revision}});
}

// A word of the request; empty where there is none.
std::string word(const json::object& request, std::string_view key) {
  const json::value* value = request.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

bool flag(const json::object& request, std::string_view key) {
  const json::value* value = request.if_contains(key);
  return value != nullptr && value->is_bool() && value->as_bool();
}

}  // namespace

boost::asio::awaitable<std::string> ControlVerbs::answer(std::string line) {
  json::error_code error;
  const json::value parsed = json::parse(line, error);
  if (error || !parsed.is_object()) co_return plain_answer("error", "not a JSON object");
  const std::string verb = word(parsed.as_object(), "verb");
  if (verb == "status") {
    std::string status = status_.status_json();
    if (status.ends_with('\n')) status.pop_back();
    co_return status;
  }
  if (verb == "reload") {
    const bool confirmed = flag(parsed.as_object(), "confirm");
    const ReloadAnswer answer = co_await reload_.reload(confirmed);
    co_return text_of(answer);
  }
  if (verb == "pauses_changed") {
    const json::object& request = parsed.as_object();
    log_.info("pause", "asked by an operator",
              {{"what", word(request, "what")},
               {"by", word(request, "by")},
               {"reason", word(request, "reason")}});
    co_await pauses_.look();
    co_return plain_answer("ok", "");
  }
  co_return plain_answer("error", "unknown verb");
}

}  // namespace order_timeout::daemon
