// hold, unhold, extend: what an operator does to single orders, with or without a running daemon.
// The database locks each order first, so that every answer is final.
#include <algorithm>
#include <boost/json.hpp>
#include <iostream>
#include <optional>

#include "ctl/invocation.hpp"
#include "ctl/session.hpp"
#include "daemon/exit_code.hpp"
#include "order_timeout/durations.hpp"
#include "postgres/array_text.hpp"

namespace order_timeout::ctl {
namespace {

struct NamedOrder {
  std::string order_no;
  std::optional<OrderId> id;  // nothing: no order has this number
};

struct Answer {
  std::string order_no, outcome;
};

// In the order asked for.
Result<std::vector<NamedOrder>> resolve(Session& session, const std::vector<std::string>& numbers) {
  Result<postgres::Rows> rows = session.read("resolve_order_nos", {postgres::array_text(numbers)});
  if (!rows) return rows.error();
  std::vector<NamedOrder> orders;
  for (const std::string& number : numbers) {
    NamedOrder order{number, std::nullopt};
    for (int row = 0; row < rows->size() && !order.id; ++row) {
      if (rows->text(row, 0) == number) order.id = rows->integer(row, 2);
    }
    orders.push_back(std::move(order));
  }
  return orders;
}

Result<std::vector<NamedOrder>> held_by(Session& session, const std::string& by) {
  Result<postgres::Rows> rows = session.read("held_orders", {by});
  if (!rows) return rows.error();
  std::vector<NamedOrder> orders;
  for (int row = 0; row < rows->size(); ++row) {
    orders.push_back({rows->text(row, 1), rows->integer(row, 0)});
  }
  return orders;
}

Result<std::vector<Answer>> apply(Session& session, std::string_view query,
                                  const std::vector<NamedOrder>& orders,
                                  const std::string& reason) {
  std::vector<Answer> answers;
  for (const NamedOrder& order : orders) {
    if (!order.id) {
      answers.push_back({order.order_no, "missing"});
      continue;
    }
    const postgres::Params params{std::to_string(*order.id), operator_name(), reason};
    Result<postgres::Rows> rows = session.write(query, params);
    if (!rows) return rows.error();
    answers.push_back({order.order_no, rows->text(0, 0)});
  }
  return answers;
}

// Success where something was done as asked.
int print(const Invocation& invocation, const std::vector<Answer>& answers,
          const std::string& wanted) {
  boost::json::array list;
  for (const Answer& answer : answers) {
    list.push_back(boost::json::object{{"order_no", answer.order_no}, {"outcome", answer.outcome}});
    if (!invocation.json) std::cout << answer.order_no << "  " << answer.outcome << '\n';
  }
  if (invocation.json) {
    const boost::json::object document{{"orders", std::move(list)}};
    std::cout << boost::json::serialize(document) << '\n';
  } else if (answers.empty()) {
    std::cerr << "order-timeoutctl: no order is held so\n";
  }
  const auto done = [&wanted](const Answer& answer) { return answer.outcome == wanted; };
  return std::any_of(answers.begin(), answers.end(), done) ? kSuccess : kNothingMatched;
}

}  // namespace

int hold(const Invocation& invocation, const HoldRequest& request) {
  Result<Session> session = Session::open(invocation);
  if (!session) return report(session.error());
  Result<std::vector<NamedOrder>> orders = resolve(*session, request.order_nos);
  if (!orders) return report(orders.error());
  Result<std::vector<Answer>> answers = apply(*session, "hold_order", *orders, request.reason);
  return answers ? print(invocation, *answers, "held") : report(answers.error());
}

int unhold(const Invocation& invocation, const HoldRequest& request) {
  Result<Session> session = Session::open(invocation);
  if (!session) return report(session.error());
  Result<std::vector<NamedOrder>> orders = request.held_by.empty()
                                               ? resolve(*session, request.order_nos)
                                               : held_by(*session, request.held_by);
  if (!orders) return report(orders.error());
  Result<std::vector<Answer>> answers = apply(*session, "unhold_order", *orders, request.reason);
  return answers ? print(invocation, *answers, "unheld") : report(answers.error());
}

int list_held(const Invocation& invocation) {
  Result<Session> session = Session::open(invocation);
  if (!session) return report(session.error());
  Result<postgres::Rows> rows = session->read("held_orders", {std::nullopt});
  if (!rows) return report(rows.error());
  boost::json::array list;
  for (int row = 0; row < rows->size(); ++row) {
    const std::string number = rows->is_null(row, 1) ? "(gone)" : rows->text(row, 1);
    list.push_back(boost::json::object{{"order_id", rows->integer(row, 0)},
                                       {"order_no", number},
                                       {"status", rows->text(row, 6)},
                                       {"reason", rows->text(row, 2)},
                                       {"by", rows->text(row, 3)},
                                       {"since", rows->text(row, 4)},
                                       {"close_deadline", rows->text(row, 5)}});
    if (invocation.json) continue;
    std::cout << number << "  by=" << rows->text(row, 3) << "  since=" << rows->text(row, 4)
              << "  deadline+grace=" << rows->text(row, 5) << "  " << rows->text(row, 2) << '\n';
  }
  if (invocation.json) {
    const boost::json::object document{{"held", std::move(list)}};
    std::cout << boost::json::serialize(document) << '\n';
  } else {
    std::cout << rows->size() << " orders are held\n";
  }
  return kSuccess;
}

int extend(const Invocation& invocation, const ExtendRequest& request) {
  std::optional<std::string> longer_ms;
  if (!request.longer.empty()) {
    const auto longer = parse_duration(request.longer);
    if (const auto* duration = std::get_if<Duration>(&longer)) {
      longer_ms = std::to_string(duration->count());
    }
  }
  Result<Session> session = Session::open(invocation);
  if (!session) return report(session.error());
  Result<std::vector<NamedOrder>> orders = resolve(*session, {request.order_no});
  if (!orders) return report(orders.error());
  std::string deadline;
  if (orders->front().id) {
    const auto until = request.until.empty() ? std::nullopt : std::optional(request.until);
    const postgres::Params params{std::to_string(*orders->front().id), until, longer_ms,
                                  operator_name(), request.reason};
    Result<postgres::Rows> rows = session->write("extend_order", params);
    if (!rows) return report(rows.error());
    deadline = rows->text(0, 0);
  }
  if (deadline.empty()) {
    std::cerr << "order-timeoutctl: "
              << (orders->front().id ? "the order does not wait for payment: "
                                     : "there is no order ")
              << request.order_no << '\n';
    return kNothingMatched;
  }
  if (invocation.json) {
    const boost::json::object document{{"order_no", request.order_no}, {"pay_deadline", deadline}};
    std::cout << boost::json::serialize(document) << '\n';
  } else {
    std::cout << request.order_no << "  pay deadline " << deadline << '\n';
  }
  return kSuccess;
}

}  // namespace order_timeout::ctl
