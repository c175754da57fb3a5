#include <map>
#include <mutex>

#include "support/stock_books.hpp"

namespace order_timeout::stock {
namespace {

class MemoryBooks final : public StockBooks {
 public:
  Applied apply(const Release& release, const AnswerNote& /*note*/) override {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[release.key];
    ++entry.calls;
    if (entry.effects > 0) return Applied::repeated;
    ++entry.effects;
    for (const auto& item : release.items) units_ += item.qty;
    return Applied::fresh;
  }

  void note_call(const std::string& key, const std::string& /*answer*/) override {
    const std::lock_guard lock(mutex_);
    ++entries_[key].calls;
  }

  Totals totals() override {
    const std::lock_guard lock(mutex_);
    Totals totals;
    totals.units = units_;
    for (const auto& [key, entry] : entries_) {
      totals.calls += entry.calls;
      totals.keys += 1;
      totals.repeated_keys += entry.calls > 1 ? 1 : 0;
      totals.effects += entry.effects;
    }
    return totals;
  }

  std::int64_t calls(const std::string& key) override { return entry_of(key).calls; }
  std::int64_t effects(const std::string& key) override { return entry_of(key).effects; }

 private:
  struct Entry {
    std::int64_t calls = 0;
    std::int64_t effects = 0;
  };

  Entry entry_of(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    return found == entries_.end() ? Entry{} : found->second;
  }

  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::int64_t units_ = 0;
};

}  // namespace

std::unique_ptr<StockBooks> make_stock_books_in_memory() { return std::make_unique<MemoryBooks>(); }

}  // namespace order_timeout::stock
