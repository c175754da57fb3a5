// close: the last resort, with or without a running daemon. Finds, shows, and closes through the
// database's own rule.
#include <algorithm>
#include <boost/json.hpp>
#include <iostream>
#include <map>
#include <optional>

#include "ctl/invocation.hpp"
#include "ctl/session.hpp"
#include "daemon/exit_code.hpp"
#include "postgres/array_text.hpp"

namespace order_timeout::ctl {
namespace {

constexpr std::int64_t kMostUnasked = 1'000;  // more than this needs a --limit in so many words
constexpr std::size_t kBatch = 500;           // orders in one transaction

struct Candidate {
  OrderId id = 0;
  std::string order_no, business_line, deadline;
  bool overdue = false;
};

struct Answer {
  std::string order_no, outcome, detail;
};

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

Result<std::vector<Candidate>> find(Session& session, const CloseRequest& request) {
  postgres::Params params;
  params.push_back(request.order_nos.empty()
                       ? std::nullopt
                       : std::optional(postgres::array_text(request.order_nos)));
  params.push_back(unless_empty(request.user));
  params.push_back(unless_empty(request.business_line));
  params.push_back(unless_empty(request.from));
  params.push_back(unless_empty(request.to));
  params.emplace_back(request.not_due ? "true" : "false");
  params.emplace_back(std::to_string(request.limit > 0 ? request.limit : kMostUnasked + 1));
  Result<postgres::Rows> rows = session.read("orders_to_close", params);
  if (!rows) return rows.error();
  std::vector<Candidate> found;
  for (int row = 0; row < rows->size(); ++row) {
    found.push_back({rows->integer(row, 0), rows->text(row, 1), rows->text(row, 2),
                     rows->text(row, 3), rows->flag(row, 4)});
  }
  return found;
}

Result<std::vector<Answer>> apply(Session& session, const std::vector<Candidate>& orders,
                                  const CloseRequest& request) {
  std::vector<Answer> answers;
  for (std::size_t first = 0; first < orders.size(); first += kBatch) {
    std::vector<std::int64_t> ids;
    for (std::size_t i = first; i < std::min(first + kBatch, orders.size()); ++i)
      ids.push_back(orders[i].id);
    const postgres::Params params{postgres::array_text(ids), request.not_due ? "true" : "false",
                                  operator_name(), request.reason};
    Result<postgres::Rows> rows = session.write("close_by_hand", params);
    if (!rows) {
      std::cerr << answers.size() << " orders had been decided when this went wrong:\n";
      return rows.error();
    }
    for (int row = 0; row < rows->size(); ++row) {
      answers.push_back({rows->text(row, 2), rows->text(row, 1), rows->text(row, 3)});
    }
  }
  return answers;
}

void print_candidates(const Invocation& invocation, const std::vector<Candidate>& orders) {
  if (!invocation.json) {
    for (const Candidate& order : orders) {
      std::cout << order.order_no << "  line=" << order.business_line
                << "  deadline+grace=" << order.deadline << (order.overdue ? "" : "  not due yet")
                << '\n';
    }
    std::cout << "dry run: " << orders.size() << " orders would be tried, none was closed\n";
    return;
  }
  boost::json::array list;
  for (const Candidate& order : orders) {
    list.push_back(boost::json::object{{"order_no", order.order_no},
                                       {"business_line", order.business_line},
                                       {"close_deadline", order.deadline},
                                       {"overdue", order.overdue}});
  }
  const boost::json::object document{{"dry_run", true}, {"orders", std::move(list)}};
  std::cout << boost::json::serialize(document) << '\n';
}

int print_answers(const Invocation& invocation, const std::vector<Answer>& answers) {
  std::map<std::string, std::int64_t> counts;
  boost::json::array list;
  for (const Answer& answer : answers) {
    counts[answer.outcome] += 1;
    list.push_back(boost::json::object{
        {"order_no", answer.order_no}, {"outcome", answer.outcome}, {"detail", answer.detail}});
    if (invocation.json) continue;
    std::cout << answer.order_no << "  " << answer.outcome;
    if (answer.outcome != "closed" && !answer.detail.empty()) std::cout << "  " << answer.detail;
    std::cout << '\n';
  }
  if (invocation.json) {
    const boost::json::object document{{"dry_run", false}, {"orders", std::move(list)}};
    std::cout << boost::json::serialize(document) << '\n';
  } else {
    for (const auto& [outcome, count] : counts) std::cout << outcome << ": " << count << '\n';
  }
  return counts["closed"] > 0 ? kSuccess : kNothingMatched;
}

}  // namespace

int close(const Invocation& invocation, const CloseRequest& request) {
  Result<Session> session = Session::open(invocation);
  if (!session) return report(session.error());
  Result<std::vector<Candidate>> orders = find(*session, request);
  if (!orders) return report(orders.error());
  if (orders->empty()) {
    std::cerr << "order-timeoutctl: no pending order matches"
              << (request.not_due
                      ? ""
                      : " and is past its deadline + grace (--not-due takes the others as well)")
              << '\n';
    return kNothingMatched;
  }
  if (request.limit == 0 && static_cast<std::int64_t>(orders->size()) > kMostUnasked) {
    std::cerr << "order-timeoutctl: more than " << kMostUnasked
              << " orders match; nothing was closed. Narrow it down, or say --limit N\n";
    return kRefusedByGuard;
  }
  if (request.dry_run) {
    print_candidates(invocation, *orders);
    return kSuccess;
  }
  Result<std::vector<Answer>> answers = apply(*session, *orders, request);
  if (!answers) return report(answers.error());
  return print_answers(invocation, *answers);
}

}  // namespace order_timeout::ctl
