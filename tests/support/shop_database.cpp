#include "support/shop_database.hpp"

#include <pqxx/pqxx>
#include <stdexcept>
#include <utility>

namespace order_timeout::shop {
namespace {

constexpr int kDelivery = 1'000;  // units a SKU that has run out is delivered
constexpr int kSkus = 20;
constexpr int kFirstSku = 1'001;
constexpr int kAttempts = 10;
constexpr int kPriceCents = 1'999;

std::string array_text(const std::vector<std::int64_t>& values) {
  std::string text = "{";
  for (const auto value : values) text += (text.size() > 1 ? "," : "") + std::to_string(value);
  return text + "}";
}

// A deadlock or a serialization failure is no answer: the transaction is tried again, whole.
template <typename Work>
auto retrying(const Work& work) {
  for (int attempt = 1;; ++attempt) {
    try {
      return work();
    } catch (const pqxx::transaction_rollback&) {
      if (attempt == kAttempts) throw;
    }
  }
}

void deliver(pqxx::work& transaction, const Item& item) {
  transaction.exec_params("update public.t_stock set available = available + $2 where sku_id = $1",
                          item.sku, item.quantity);
}

bool take_from_shelf(pqxx::work& transaction, const Item& item) {
  return transaction
             .exec_params(
                 "update public.t_stock set available = available - $2, reserved = "
                 "reserved + $2 where sku_id = $1 and available >= $2",
                 item.sku, item.quantity)
             .affected_rows() == 1;
}

void write_items(pqxx::work& transaction, OrderId order, const std::vector<Item>& items) {
  for (const auto& item : items) {
    transaction.exec_params(
        "insert into public.t_order_item (order_id, sku_id, qty) values ($1, $2, $3)", order,
        item.sku, item.quantity);
  }
}

}  // namespace

ShopDatabase::ShopDatabase(const std::string& url) : connection_{url} {
  pqxx::work transaction{connection_};
  const auto answer = transaction.exec1("select current_setting('track_commit_timestamp')::bool");
  commit_times_ = answer[0].as<bool>();
}

Stocks ShopDatabase::stocks() {
  pqxx::work transaction{connection_};
  Stocks stocks;
  for (const auto& row :
       transaction.exec("select sku_id, available, reserved from public.t_stock")) {
    stocks[row[0].as<std::int64_t>()] = {.available = row[1].as<std::int64_t>(),
                                         .reserved = row[2].as<std::int64_t>()};
  }
  return stocks;
}

void ShopDatabase::fill_empty_shelves() {
  pqxx::work transaction{connection_};
  transaction.exec_params(
      "insert into public.t_stock (sku_id, available) select $1 + n, $3 "
      "from generate_series(0, $2 - 1) n where not exists (select from public.t_stock)",
      kFirstSku, kSkus, kDelivery);
  transaction.commit();
}

Receipt ShopDatabase::place(const std::string& order_no, const Basket& basket) {
  int units = 0;
  for (const auto& item : basket.items) units += item.quantity;
  return retrying([&] {
    pqxx::work transaction{connection_};
    const auto row = transaction.exec_params1(
        "insert into public.t_order (order_no, user_id, biz_line, status, amount_cents) "
        "values ($1, $2, $3, 'WAIT_PAY', $4) "
        "returning id, floor(extract(epoch from created_at) * 1000)::bigint",
        order_no, 1 + units * 7, basket.line, units * kPriceCents);
    Receipt receipt;
    receipt.created = instant_from_ms(row[1].as<std::int64_t>());
    receipt.order = {.id = row[0].as<OrderId>(),
                     .close_from = receipt.created + basket.close_after,
                     .close_after = basket.close_after,
                     .items = basket.items};
    write_items(transaction, receipt.order.id, basket.items);
    for (const auto& item : basket.items) {
      if (take_from_shelf(transaction, item)) continue;
      receipt.restocked.push_back({.sku = item.sku, .quantity = kDelivery});
      deliver(transaction, receipt.restocked.back());
      if (!take_from_shelf(transaction, item)) throw std::runtime_error{"a SKU is missing"};
    }
    transaction.commit();
    return receipt;
  });
}

PayAnswer ShopDatabase::pay(const PlacedOrder& order) {
  return retrying([&] {
    pqxx::work transaction{connection_};
    const auto paid = transaction.exec_params(
        "update public.t_order set status = 'PAID', version = version + 1, paid_at = now() "
        "where id = $1 and status = 'WAIT_PAY' returning amount_cents",
        order.id);
    if (paid.empty()) {
      const auto status =
          transaction.exec_params1("select status from public.t_order where id = $1", order.id)[0]
              .as<std::string>();
      return status == "CLOSED" ? PayAnswer::found_closed : PayAnswer::found_otherwise;
    }
    transaction.exec_params(
        "insert into public.t_payment (payment_id, order_id, status, amount_cents) "
        "values ($1, $2, 'SUCCESS', $3)",
        "P" + std::to_string(order.id), order.id, paid[0][0].as<std::int64_t>());
    for (const auto& item : order.items) {
      transaction.exec_params(
          "update public.t_stock set reserved = reserved - $2 where sku_id = $1", item.sku,
          item.quantity);
    }
    transaction.commit();
    return PayAnswer::paid;
  });
}

std::vector<Sighting> ShopDatabase::sightings(const std::string& query,
                                              const std::vector<Watch>& watched) {
  std::vector<std::int64_t> ids, close_after;
  for (const auto& watch : watched) {
    ids.push_back(watch.id);
    close_after.push_back(watch.close_after.count());
  }
  pqxx::work transaction{connection_};
  std::vector<Sighting> sightings;
  for (const auto& row : transaction.exec_params(query, array_text(ids), array_text(close_after))) {
    sightings.push_back({.id = row[0].as<OrderId>(), .late = Duration{row[1].as<std::int64_t>()}});
  }
  return sightings;
}

std::vector<Sighting> ShopDatabase::closed_of(const std::vector<Watch>& watched) {
  const std::string at = commit_times_ ? "pg_xact_commit_timestamp(o.xmin)" : "o.closed_at";
  return sightings("select o.id, floor(extract(epoch from " + at +
                       " - o.created_at - w.close_after * interval '1 ms') * 1000)::bigint "
                       "from unnest($1::bigint[], $2::bigint[]) as w(id, close_after) "
                       "join public.t_order o on o.id = w.id where o.status = 'CLOSED'",
                   watched);
}

std::vector<Sighting> ShopDatabase::released_of(const std::vector<Watch>& watched) {
  return sightings(
      "select o.id, floor(extract(epoch from r.released_at "
      " - o.created_at - w.close_after * interval '1 ms') * 1000)::bigint "
      "from unnest($1::bigint[], $2::bigint[]) as w(id, close_after) "
      "join public.t_order o on o.id = w.id "
      "join public.t_stock_release r on r.order_id = w.id",
      watched);
}

std::int64_t ShopDatabase::claimable_events() {
  pqxx::work transaction{connection_};
  return transaction
      .exec1(
          "select count(*) from order_timeout.outbox where status in ('PENDING', 'UNCERTAIN')")[0]
      .as<std::int64_t>();
}

Observed ShopDatabase::observe(OrderId first) {
  pqxx::transaction<pqxx::repeatable_read> transaction{connection_};
  Observed observed;
  const auto orders = transaction.exec_params(
      "select o.id, o.status, coalesce(e.events, 0), coalesce(e.done, 0), coalesce(r.releases, 0) "
      "from public.t_order o "
      "left join (select order_id, count(*) as events, count(*) filter (where status = 'SUCCESS') "
      "as done from order_timeout.outbox where order_id >= $1 group by order_id) e "
      "on e.order_id = o.id "
      "left join (select order_id, count(*) as releases from public.t_stock_release "
      "where order_id >= $1 group by order_id) r on r.order_id = o.id where o.id >= $1",
      first);
  for (const auto& row : orders) {
    observed.orders[row[0].as<OrderId>()] = {.status = row[1].as<std::string>(),
                                             .events = row[2].as<int>(),
                                             .events_done = row[3].as<int>(),
                                             .releases = row[4].as<int>()};
  }
  for (const auto& row :
       transaction.exec("select sku_id, available, reserved from public.t_stock")) {
    observed.stocks[row[0].as<std::int64_t>()] = {.available = row[1].as<std::int64_t>(),
                                                  .reserved = row[2].as<std::int64_t>()};
  }
  const auto rest = transaction.exec1(
      "select count(*) filter (where status in ('PENDING', 'UNCERTAIN')), "
      "floor(extract(epoch from clock_timestamp()) * 1000)::bigint from order_timeout.outbox");
  observed.claimable_events = rest[0].as<std::int64_t>();
  observed.now = instant_from_ms(rest[1].as<std::int64_t>());
  return observed;
}

}  // namespace order_timeout::shop
