#include <exception>
#include <iostream>
#include <mutex>
#include <optional>
#include <pqxx/pqxx>
#include <type_traits>
#include <utility>

#include "support/stock_books.hpp"

namespace order_timeout::stock {
namespace {

constexpr int kTriesMax = 5;  // a deadlock or a lost connection costs one

constexpr const char* kReleaseTable = R"(
  create table t_stock_release (
    idempotency_key text primary key,
    order_id bigint not null,
    released_at timestamptz not null,
    calls integer not null))";

constexpr const char* kCallTable = R"(
  create table t_stock_call (
    id bigserial primary key,
    idempotency_key text not null,
    at timestamptz not null default clock_timestamp(),
    answer text not null))";

// One round trip and one commit a release: the stock's row locks are held no longer than that
// takes. SKUs ascending, so that two releases never wait for each other crosswise. Temporary, so
// that no right to make functions is needed.
constexpr const char* kApplyFunction = R"(
  create function pg_temp.apply_release(key text, its_order bigint, skus bigint[], qtys bigint[],
                                        fresh text, repeated text) returns text
  language plpgsql as $$
  declare
    times integer;
    item record;
  begin
    insert into t_stock_release (idempotency_key, order_id, released_at, calls)
    values (key, its_order, clock_timestamp(), 1)
    on conflict (idempotency_key) do update set calls = t_stock_release.calls + 1
    returning calls into times;
    insert into t_stock_call (idempotency_key, answer)
    values (key, case when times = 1 then fresh else repeated end);
    if times > 1 then
      return 'repeated';
    end if;
    for item in select sku, sum(qty) as qty from unnest(skus, qtys) as u(sku, qty)
                group by sku order by sku loop
      update t_stock set available = available + item.qty, reserved = reserved - item.qty
      where sku_id = item.sku;
      if not found then
        raise exception 'SKU % is unknown', item.sku using errcode = 'no_data_found';
      end if;
    end loop;
    return 'fresh';
  end
  $$)";

constexpr const char* kApply =
    "select pg_temp.apply_release($1, $2, $3::bigint[], $4::bigint[], $5, $6)";

constexpr const char* kNote = "insert into t_stock_call (idempotency_key, answer) values ($1, $2)";

constexpr const char* kTotals = R"(
  select coalesce(sum(n), 0)::bigint, count(*), count(*) filter (where n > 1),
         (select count(*) from t_stock_release)
  from (select count(*) as n from t_stock_call group by idempotency_key) as per_key)";

// '{1,2}' of one member of the items.
std::string array_of(const std::vector<ReleasedItem>& items, std::int64_t ReleasedItem::*member) {
  std::string text = "{";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += std::to_string(item.*member);
  }
  return text + '}';
}

class PostgresBooks final : public StockBooks {
 public:
  explicit PostgresBooks(std::string url) : url_(std::move(url)) {
    auto connection = take();
    pqxx::work work(*connection);
    if (is_missing(work, "t_stock_release")) work.exec(kReleaseTable);
    if (is_missing(work, "t_stock_call")) work.exec(kCallTable);
    work.commit();
    give_back(std::move(connection));
  }

  Applied apply(const Release& release, const AnswerNote& note) override {
    const auto applied =
        with_connection([&](pqxx::connection& to) { return apply_on(to, release, note); });
    if (applied == Applied::fresh) add_units(release);
    return applied.value_or(Applied::failed);
  }

  void note_call(const std::string& key, const std::string& answer) override {
    with_connection([&](pqxx::connection& to) {
      pqxx::work work(to);
      work.exec_params(kNote, key, answer);
      work.commit();
      return true;
    });
  }

  Totals totals() override {
    auto totals = with_connection([](pqxx::connection& to) {
      pqxx::work work(to);
      const auto row = work.exec(kTotals)[0];
      Totals read;
      read.calls = row[0].as<std::int64_t>();
      read.keys = row[1].as<std::int64_t>();
      read.repeated_keys = row[2].as<std::int64_t>();
      read.effects = row[3].as<std::int64_t>();
      return read;
    });
    if (!totals) return {};
    const std::lock_guard lock(mutex_);
    totals->units = units_;
    return *totals;
  }

  std::int64_t calls(const std::string& key) override {
    return count("select count(*) from t_stock_call where idempotency_key = $1", key);
  }

  std::int64_t effects(const std::string& key) override {
    return count("select count(*) from t_stock_release where idempotency_key = $1", key);
  }

 private:
  using Connection = std::unique_ptr<pqxx::connection>;

  static bool is_missing(pqxx::work& work, const char* table) {
    return work.exec_params("select to_regclass($1) is null", table)[0][0].as<bool>();
  }

  static Applied apply_on(pqxx::connection& to, const Release& release, const AnswerNote& note) {
    pqxx::nontransaction work(to);
    try {
      const auto row = work.exec_params(
          kApply, release.key, release.order_id, array_of(release.items, &ReleasedItem::sku_id),
          array_of(release.items, &ReleasedItem::qty), note.fresh, note.repeated)[0];
      const bool fresh = row[0].as<std::string>() == "fresh";
      return fresh ? Applied::fresh : Applied::repeated;
    } catch (const pqxx::sql_error& error) {
      if (error.sqlstate() != "P0002") throw;
    }
    work.exec_params(kNote, release.key, "unknown_sku");
    return Applied::unknown_sku;
  }

  std::int64_t count(const char* query, const std::string& key) {
    return with_connection([&](pqxx::connection& to) {
             pqxx::work work(to);
             return work.exec_params(query, key)[0][0].as<std::int64_t>();
           })
        .value_or(0);
  }

  // Nothing when every try failed. Repeating is safe: a release is applied once a key.
  template <class Work>
  std::optional<std::invoke_result_t<Work, pqxx::connection&>> with_connection(Work work) {
    for (int attempt = 0; attempt < kTriesMax; ++attempt) {
      try {
        auto connection = take();
        auto result = work(*connection);
        give_back(std::move(connection));
        return result;
      } catch (const std::exception& error) {
        std::cerr << "stock books: " << error.what() << '\n';
      }
    }
    return std::nullopt;
  }

  Connection take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto connection = std::move(free_.back());
        free_.pop_back();
        return connection;
      }
    }
    auto connection = std::make_unique<pqxx::connection>(url_);
    pqxx::nontransaction(*connection).exec(kApplyFunction);
    return connection;
  }

  void give_back(Connection connection) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(connection));
  }

  void add_units(const Release& release) {
    const std::lock_guard lock(mutex_);
    for (const auto& item : release.items) units_ += item.qty;
  }

  std::string url_;
  std::mutex mutex_;
  std::vector<Connection> free_;  // as many as were ever in use at once
  std::int64_t units_ = 0;        // since the start
};

}  // namespace

std::unique_ptr<StockBooks> make_stock_books_in_postgres(const std::string& url) {
  return std::make_unique<PostgresBooks>(url);
}

}  // namespace order_timeout::stock
