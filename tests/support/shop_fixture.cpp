#include "support/shop_fixture.hpp"

#include <poll.h>

#include <stdexcept>

namespace order_timeout::testing {

namespace {

constexpr int kLookAgainMs = 10;

// security definer: closes are written by the daemon's owner role, which has no right on it.
const char* const kHistory = R"(
  create table t_order_history (
    id bigserial primary key, order_id bigint not null, old_status text not null,
    new_status text not null, at timestamptz not null default clock_timestamp(),
    transaction bigint not null default txid_current());
  create index on t_order_history (order_id);
  create function note_order_status() returns trigger language plpgsql security definer
    set search_path = public as $$
  begin
    insert into t_order_history (order_id, old_status, new_status)
    values (new.id, old.status, new.status);
    return null;
  end $$;
  create trigger note_status after update on t_order for each row
    when (old.status is distinct from new.status) execute function note_order_status();)";

// Each close with the instant its transaction committed.
const char* const kCloses =
    "(select h.order_id, pg_xact_commit_timestamp(h.xmin) as committed from t_order_history h"
    " where h.new_status = 'CLOSED')";

}  // namespace

bool await(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return condition();
    poll(nullptr, 0, kLookAgainMs);
  }
  return true;
}

ShopFixture::ShopFixture(PostgresServer& server)
    : server_(server), database_(server.new_database()), shop_(server.url(database_)) {
  shop_.exec("set statement_timeout = '60s'");
  shop_.exec("insert into t_stock select n, " + std::to_string(kPiecesAtStart) +
             " from generate_series(1, " + std::to_string(kSkus) + ") n");
  install_history();
}

ShopFixture::~ShopFixture() {
  try {
    server_.drop_database(database_);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

void ShopFixture::install_history() { shop_.exec(kHistory); }

PlacedOrders ShopFixture::place_orders(int count, const std::string& line,
                                       const std::string& created_at) {
  const Row row =
      shop_
          .rows(
              "with numbers as materialized (select n, nextval(pg_get_serial_sequence('t_order', "
              "'id')) as id from generate_series(1, " +
              std::to_string(count) +
              ") n), placed as (insert into t_order (id, order_no, user_id, biz_line, "
              "amount_cents, created_at) select id, 'SO' || id, 1 + n % 100, nullif('" +
              line + "', ''), 990, " + created_at +
              " from numbers), items as (insert into t_order_item (order_id, sku_id, qty)"
              " select id, 1 + id % " +
              std::to_string(kSkus) +
              ", 1 + (id % 3)::int from numbers returning sku_id, qty), taken as (update t_stock s"
              " set available = available - i.qty, reserved = reserved + i.qty from (select sku_id,"
              " sum(qty)::int as qty from items group by 1) i where i.sku_id = s.sku_id)"
              " select min(id), max(id) from numbers")
          .at(0);
  return {.first = std::stoll(row.at(0).value()), .last = std::stoll(row.at(1).value())};
}

std::int64_t ShopFixture::place_order(const std::string& created_at, const std::string& line) {
  return place_orders(1, line, created_at).first;
}

std::string ShopFixture::status_of(std::int64_t id) {
  return shop_.value("select status from t_order where id = " + std::to_string(id));
}

std::int64_t ShopFixture::count(const std::string& from_where) {
  return std::stoll(shop_.value("select count(*) from " + from_where));
}

bool ShopFixture::await_count(const std::string& from_where, std::int64_t expected,
                              std::chrono::milliseconds patience) {
  return await([&] { return count(from_where) == expected; }, patience);
}

bool ShopFixture::await_released(std::int64_t orders, std::chrono::milliseconds patience) {
  return await_count(
      "t_order o join t_stock_release r on r.idempotency_key = o.id || ':RELEASE_STOCK'"
      " join order_timeout.outbox e on e.event_key = r.idempotency_key"
      " where o.status = 'CLOSED' and e.status = 'SUCCESS'",
      orders, patience);
}

// The first rows of a query of one text column; empty where there is none.
std::string ShopFixture::offenders(const std::string& query) {
  std::string all;
  for (const Row& row : shop_.rows(query + " limit 10")) all += row.at(0).value_or("NULL") + "; ";
  return all;
}

void ShopFixture::expect_none_early(const std::string& due) {
  EXPECT_EQ(offenders("select o.id || ' due ' || (" + due + ") || ' closed ' || c.committed from " +
                      kCloses + " c join t_order o on o.id = c.order_id where c.committed < (" +
                      due + ")"),
            "")
      << "closed early";
}

void ShopFixture::expect_closed_once() {
  EXPECT_EQ(offenders("select h.order_id || ' ' || string_agg(h.old_status || '->' || h.new_status,"
                      " ',') from t_order_history h join t_order o on o.id = h.order_id"
                      " where o.status = 'CLOSED' group by h.order_id having count(*) <> 1 or"
                      " min(h.old_status) <> 'WAIT_PAY' or min(h.new_status) <> 'CLOSED'"),
            "")
      << "not closed exactly once from pending";
  EXPECT_EQ(offenders("select o.id || ' without history' from t_order o where o.status = 'CLOSED'"
                      " and not exists (select from t_order_history h where h.order_id = o.id)"),
            "");
}

void ShopFixture::expect_one_event() {
  EXPECT_EQ(offenders("select o.id || ' ' || o.status || ' events: ' || count(e.id) from t_order o"
                      " left join order_timeout.outbox e on e.order_id = o.id and e.event_type <>"
                      " 'REFUND'"
                      " group by o.id having count(e.id) <> (case o.status when 'CLOSED' then 1"
                      " else 0 end) or bool_or(e.event_key <> o.id || ':RELEASE_STOCK')"),
            "")
      << "not one event of its own a closed order, or one for another";
}

void ShopFixture::expect_released_once() {
  EXPECT_EQ(offenders("select coalesce(r.idempotency_key, o.id || ' not released') from (select * "
                      "from t_order where status = 'CLOSED') o full join t_stock_release r on"
                      " r.idempotency_key = o.id || ':RELEASE_STOCK'"
                      " where o.id is null or r.idempotency_key is null"),
            "")
      << "keys in the stock's books are not those of the closed orders";
}

void ShopFixture::expect_stock_exact() {
  EXPECT_EQ(offenders("select s.sku_id || ' available ' || s.available || ' reserved ' ||"
                      " s.reserved || ' of open orders ' || coalesce(i.qty, 0) from t_stock s"
                      " left join (select i.sku_id, sum(i.qty) as qty from t_order_item i"
                      " join t_order o on o.id = i.order_id where o.status <> 'CLOSED' group by 1)"
                      " i on i.sku_id = s.sku_id where s.reserved <> coalesce(i.qty, 0)"
                      " or s.available + s.reserved <> " +
                      std::to_string(kPiecesAtStart)),
            "")
      << "stock differs";
}

void ShopFixture::expect_books_balance(const std::string& due) {
  expect_none_early(due);
  expect_closed_once();
  expect_one_event();
  expect_released_once();
  expect_stock_exact();
}

Lateness ShopFixture::lateness(const std::string& due) {
  const Row row = shop_
                      .rows(
                          "select count(*), coalesce(percentile_cont(0.5) within group (order by"
                          " ms), 0), coalesce(percentile_cont(0.99) within group (order by ms),"
                          " 0), coalesce(percentile_cont(0.999) within group (order by ms), 0),"
                          " coalesce(max(ms), 0) from (select extract(epoch from c.committed -"
                          " (" +
                          due + "))::float8 * 1000 as ms from " + kCloses +
                          " c join t_order o on o.id = c.order_id) late")
                      .at(0);
  return {.closed = std::stoll(row.at(0).value()),
          .p50_ms = std::stod(row.at(1).value()),
          .p99_ms = std::stod(row.at(2).value()),
          .p999_ms = std::stod(row.at(3).value()),
          .max_ms = std::stod(row.at(4).value())};
}

}  // namespace order_timeout::testing
