// reload: asks the daemon to take its configuration anew, and shows what that does.
#include <boost/json.hpp>
#include <iostream>

#include "ctl/control_client.hpp"
#include "ctl/invocation.hpp"
#include "ctl/session.hpp"
#include "daemon/exit_code.hpp"

namespace order_timeout::ctl {
namespace {

namespace json = boost::json;

constexpr Duration kPatience{60'000};  // a preview of many orders takes its time

std::string text(const json::object& answer, std::string_view key) {
  const json::value* value = answer.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

void print_list(const json::object& answer, std::string_view key, std::ostream& out) {
  const json::value* list = answer.if_contains(key);
  if (list == nullptr || !list->is_array()) return;
  for (const json::value& line : list->as_array()) {
    if (line.is_string()) out << std::string_view(line.as_string()) << '\n';
  }
}

int exit_code_of(const std::string& reason) {
  if (reason == "ok") return kSuccess;
  if (reason == "guard") return kRefusedByGuard;
  if (reason == "configuration") return kBadConfiguration;
  return reason == "database" ? kUnavailable : kFailure;
}

}  // namespace

int reload(const Invocation& invocation, bool confirmed) {
  const json::object question{{"verb", "reload"}, {"confirm", confirmed}};
  Result<json::object> answer = ask_daemon(invocation.config.admin_socket, question, kPatience);
  if (!answer) {
    std::cerr << "order-timeoutctl: " << answer.error().detail << '\n';
    return kUnavailable;
  }
  const std::string reason = text(*answer, "reason");
  if (invocation.json) {
    std::cout << json::serialize(*answer) << '\n';
    return exit_code_of(reason);
  }
  print_list(*answer, "errors", std::cerr);
  print_list(*answer, "changes", std::cout);
  print_list(*answer, "preview", std::cout);
  if (reason == "ok") {
    std::cout << "reloaded, revision " << json::serialize(answer->at("revision")) << '\n';
  } else {
    std::cerr << "order-timeoutctl: nothing was changed: " << text(*answer, "message") << '\n';
  }
  return exit_code_of(reason);
}

}  // namespace order_timeout::ctl
