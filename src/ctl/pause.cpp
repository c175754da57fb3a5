// pause and resume: rows of the table `pause`, with or without a running daemon; one that runs is
// told at once.
#include <boost/json.hpp>
#include <iostream>

#include "ctl/control_client.hpp"
#include "ctl/invocation.hpp"
#include "ctl/session.hpp"
#include "daemon/exit_code.hpp"

namespace order_timeout::ctl {
namespace {

namespace json = boost::json;

constexpr Duration kPatience{2'000};
constexpr std::size_t kReasonBytesMax = 1'000;  // of what the daemon is told

std::string scope_of(const PauseRequest& request) {
  if (!request.business_line.empty()) return "line:" + request.business_line;
  if (!request.event.empty()) return "event:" + request.event;
  return "all";
}

bool tell_daemon(const Invocation& invocation, const std::string& what, const std::string& reason) {
  const json::object question{{"verb", "pauses_changed"},
                              {"what", what},
                              {"by", operator_name()},
                              {"reason", reason.substr(0, kReasonBytesMax)}};
  return static_cast<bool>(ask_daemon(invocation.config.admin_socket, question, kPatience));
}

void tell(const Invocation& invocation, const std::string& verb, const PauseRequest& request) {
  const std::string scope = scope_of(request);
  const bool told = tell_daemon(invocation, verb + " " + scope, request.reason);
  if (invocation.json) {
    const json::object document{{"verb", verb}, {"scope", scope}, {"daemon_told", told}};
    std::cout << json::serialize(document) << '\n';
    return;
  }
  std::cout << verb << "d " << scope
            << (told ? "" : "; the daemon was not reached: one that runs sees it within 5 s")
            << '\n';
}

}  // namespace

int pause(const Invocation& invocation, const PauseRequest& request) {
  Result<Session> session = Session::open(invocation);
  if (!session) return report(session.error());
  postgres::Params params{scope_of(request)};
  params.push_back(request.until.empty() ? std::nullopt : std::optional(request.until));
  params.emplace_back(operator_name());
  params.emplace_back(request.reason);
  Result<postgres::Rows> rows = session->write("pause", params);
  if (!rows) return report(rows.error());
  tell(invocation, "pause", request);
  return kSuccess;
}

int resume(const Invocation& invocation, const PauseRequest& request) {
  Result<Session> session = Session::open(invocation);
  if (!session) return report(session.error());
  const std::string scope = scope_of(request);
  Result<postgres::Rows> rows = session->write("resume", {scope});
  if (!rows) return report(rows.error());
  if (rows->size() == 0) {
    std::cerr << "order-timeoutctl: " << scope << " is not paused\n";
    return kNothingMatched;
  }
  tell(invocation, "resume", request);
  return kSuccess;
}

}  // namespace order_timeout::ctl
