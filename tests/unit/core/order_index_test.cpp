// Proves that the wheel's index is a map from ids to node numbers, whatever the ids, and that
// coming and going does not make it grow.
#include "order_timeout/order_index.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <unordered_map>

namespace order_timeout {
namespace {

TEST(OrderIndex, FindsNothingWhereNothingIs) {
  const OrderIndex index;
  EXPECT_EQ(index.find(0), OrderIndex::kNone);
  EXPECT_EQ(index.memory_bytes(), 0U);
}

TEST(OrderIndex, TellsAnyTwoIdsApart) {
  OrderIndex index;
  const OrderId ids[]{std::numeric_limits<OrderId>::min(), -1, 0, 1,
                      std::numeric_limits<OrderId>::max()};
  std::uint32_t node = 0;
  for (const OrderId id : ids) index.insert(id, node++);
  node = 0;
  for (const OrderId id : ids) EXPECT_EQ(index.find(id), node++);
  index.erase(0);
  EXPECT_EQ(index.find(0), OrderIndex::kNone);
  EXPECT_EQ(index.find(1), 3U);
}

TEST(OrderIndex, IsAMapUnderRandomInsertsAndErases) {
  std::mt19937_64 random{1};
  OrderIndex index;
  std::unordered_map<OrderId, std::uint32_t> model;
  for (std::uint32_t step = 0; step < 300'000; ++step) {
    // A table of 64 to 8,192 entries, nearly full at times: long runs, and runs over the end.
    const auto id = static_cast<OrderId>(random() % (step < 150'000 ? 48 : 6'000));
    const auto found = model.find(id);
    ASSERT_EQ(index.find(id), found == model.end() ? OrderIndex::kNone : found->second);
    if (found == model.end()) {
      index.insert(id, step);
      model.emplace(id, step);
    } else {
      index.erase(id);
      model.erase(found);
    }
    ASSERT_EQ(index.size(), model.size());
  }
  for (const auto& [id, node] : model) ASSERT_EQ(index.find(id), node);
}

TEST(OrderIndex, DoesNotGrowWhileOrdersComeAndGo) {
  OrderIndex index;
  index.insert(0, 0);
  const std::size_t before = index.memory_bytes();
  for (OrderId id = 1; id < 100'000; ++id) {
    index.insert(id, 1);
    index.erase(id);
  }
  EXPECT_EQ(index.memory_bytes(), before);
}

}  // namespace
}  // namespace order_timeout
