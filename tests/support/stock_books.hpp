// The stock service's books: what was released, once a key, and every call. In PostgreSQL or, for
// tests without one, in memory. Safe to use from several threads; calls block.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace order_timeout::stock {

struct ReleasedItem {
  std::int64_t sku_id = 0;
  std::int64_t qty = 0;
};

struct Release {
  std::string key;  // idempotency key
  std::int64_t order_id = 0;
  std::vector<ReleasedItem> items;
};

enum class Applied : std::uint8_t {
  fresh,        // stock moved from reserved to available
  repeated,     // this key was applied before: nothing moved
  unknown_sku,  // an item of no stock row: nothing moved, the key is free
  failed,       // the books could not be reached
};

// What the list of calls says was answered, by what became of the release.
struct AnswerNote {
  std::string fresh;
  std::string repeated;
};

struct Totals {
  std::int64_t calls = 0;          // release calls with a key, however they ended
  std::int64_t keys = 0;           // different keys called
  std::int64_t repeated_keys = 0;  // keys called more than once
  std::int64_t effects = 0;        // keys applied
  std::int64_t units = 0;          // pieces put back
};

class StockBooks {
 public:
  virtual ~StockBooks() = default;
  // Moves the stock unless the key has been seen, and lists the call: one transaction.
  virtual Applied apply(const Release& release, const AnswerNote& note) = 0;
  // Lists a call that was not let near the stock.
  virtual void note_call(const std::string& key, const std::string& answer) = 0;
  virtual Totals totals() = 0;
  virtual std::int64_t calls(const std::string& key) = 0;
  virtual std::int64_t effects(const std::string& key) = 0;
};

// Every SKU is known.
std::unique_ptr<StockBooks> make_stock_books_in_memory();

// Needs the tables of sql/sample/shop.sql; makes t_stock_release and t_stock_call where they are
// missing. Throws the exceptions of libpqxx when the database cannot be reached now; later it says
// Applied::failed.
std::unique_ptr<StockBooks> make_stock_books_in_postgres(const std::string& url);

}  // namespace order_timeout::stock
