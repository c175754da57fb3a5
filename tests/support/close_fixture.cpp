#include "support/close_fixture.hpp"

namespace order_timeout::testing {

CloseFixture::CloseFixture() {
  apply_rules(
      R"("default":{"timeout_ms":60000,"grace_ms":10000,"action":"close","on_close":["RELEASE_STOCK"]})");
}

CloseFixture::~CloseFixture() { server_.drop_database(database_); }

void CloseFixture::place(int id, double seconds_ago, const std::string& line) {
  shop_.exec(
      "INSERT INTO t_order (id, order_no, user_id, biz_line, amount_cents, created_at) VALUES (" +
      std::to_string(id) + ", 'N" + std::to_string(id) + "', 7, '" + line +
      "', 1990, now() - interval '1 second' * " + std::to_string(seconds_ago) + ")");
}

std::vector<CloseAnswer> CloseFixture::answers(const Rows& rows) {
  std::vector<CloseAnswer> all;
  for (const Row& row : rows) {
    const auto text = [&row](std::size_t column) { return row.at(column).value_or("NULL"); };
    all.push_back({text(0), text(1), text(2), text(3), text(4), text(5), text(6), text(7)});
  }
  return all;
}

std::vector<CloseAnswer> CloseFixture::close_all(const std::string& ids,
                                                 const std::string& versions) {
  return answers(daemon_.rows("SELECT * FROM order_timeout.close_orders('{" + ids + "}', array[" +
                              versions + "]::int[])"));
}

CloseAnswer CloseFixture::close(int id, const std::string& version) {
  return close_all(std::to_string(id), version).at(0);
}

std::string CloseFixture::status_of(int id) {
  return shop_.value("SELECT status FROM t_order WHERE id = " + std::to_string(id));
}

void CloseFixture::apply_rules(const std::string& lines, const std::string& more) {
  daemon_.exec("SELECT order_timeout.apply_rules(NULL, '{" + more + ",\"lines\":{" + lines +
               "}}')");
}

int CloseFixture::count(const std::string& from) {
  return std::stoi(shop_.value("SELECT count(*) FROM " + from));
}

}  // namespace order_timeout::testing
