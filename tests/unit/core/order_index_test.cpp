// Proves that the wheel's index is a map from ids to numbers, whatever the ids, that it grows and
// shrinks by a bucket at a time and keeps its invariants, and that coming and going leaves nothing.
#include "order_timeout/order_index.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <unordered_map>
#include <vector>

namespace order_timeout {
namespace {

class OrderIndexTest : public ::testing::Test {
 protected:
  std::uint32_t insert(OrderId id) {
    const std::uint32_t number = orders_.take();
    orders_[number].id = id;
    orders_[number].alive = true;
    index_.insert(id, number);
    return number;
  }

  void erase(OrderId id) {
    const std::uint32_t number = index_.find(id);
    index_.erase(id, number);
    orders_[number].alive = false;
    orders_.release(number);
  }

  HeldOrders orders_;
  OrderIndex index_{orders_};
};

TEST_F(OrderIndexTest, FindsNothingWhereNothingIs) {
  EXPECT_EQ(index_.find(0), OrderIndex::kNone);
  EXPECT_EQ(index_.check_invariants(), "");
}

TEST_F(OrderIndexTest, TellsAnyTwoIdsApart) {
  const std::vector<OrderId> ids{std::numeric_limits<OrderId>::min(), -1, 0, 1,
                                 std::numeric_limits<OrderId>::max()};
  std::vector<std::uint32_t> numbers;
  for (const OrderId id : ids) numbers.push_back(insert(id));
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(index_.find(ids[i]), numbers[i]);
  erase(0);
  EXPECT_EQ(index_.find(0), OrderIndex::kNone);
  EXPECT_EQ(index_.find(1), numbers[3]);
}

TEST_F(OrderIndexTest, IsAMapUnderRandomInsertsAndErases) {
  std::mt19937_64 random{1};
  std::unordered_map<OrderId, std::uint32_t> model;
  for (std::uint32_t step = 0; step < 300'000; ++step) {
    const auto id = static_cast<OrderId>(random() % (step < 150'000 ? 600 : 20'000));
    const auto found = model.find(id);
    ASSERT_EQ(index_.find(id), found == model.end() ? OrderIndex::kNone : found->second);
    if (found == model.end()) {
      model.emplace(id, insert(id));
    } else {
      erase(id);
      model.erase(found);
    }
    ASSERT_EQ(index_.size(), model.size());
    if (step % 10'000 == 0) {
      ASSERT_EQ(index_.check_invariants(), "");
    }
  }
  for (const auto& [id, number] : model) ASSERT_EQ(index_.find(id), number);
}

TEST_F(OrderIndexTest, KeepsItsInvariantsThroughGrowingAndShrinking) {
  constexpr OrderId kMost = 60'000;
  for (OrderId id = 0; id < kMost; ++id) {
    insert(id);
    if (id % 4'001 == 0) {
      ASSERT_EQ(index_.check_invariants(), "") << id;
    }
  }
  for (OrderId id = kMost - 1; id >= 0; --id) {
    erase(id);
    if (id % 4'001 == 0) {
      ASSERT_EQ(index_.check_invariants(), "") << id;
    }
  }
  EXPECT_EQ(index_.size(), 0U);
}

TEST_F(OrderIndexTest, GivesItsMemoryBack) {
  const std::size_t empty = index_.memory_bytes();
  constexpr OrderId kMost = 400'000;
  for (OrderId id = 0; id < kMost; ++id) insert(id);
  EXPECT_LT(index_.memory_bytes(), kMost * 12U + empty);
  for (OrderId id = 0; id < kMost; ++id) erase(id);
  EXPECT_LT(index_.memory_bytes(), 3 * empty);
}

TEST_F(OrderIndexTest, DoesNotGrowWhileOrdersComeAndGo) {
  insert(0);
  const std::size_t before = index_.memory_bytes();
  for (OrderId id = 1; id < 100'000; ++id) {
    insert(id);
    erase(id);
  }
  EXPECT_EQ(index_.memory_bytes(), before);
}

}  // namespace
}  // namespace order_timeout
