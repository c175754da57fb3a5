// A row of bits in which the next one that is set is found a word at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace order_timeout {

// One thread at a time. Positions are below size().
class Bitmap {
 public:
  explicit Bitmap(std::size_t size = 0) : size_(size), words_((size + kWord - 1) / kWord) {}

  std::size_t size() const { return size_; }
  bool test(std::size_t at) const { return (words_[at / kWord] >> (at % kWord) & 1) != 0; }
  void set(std::size_t at) { words_[at / kWord] |= std::uint64_t{1} << (at % kWord); }
  void clear(std::size_t at) { words_[at / kWord] &= ~(std::uint64_t{1} << (at % kWord)); }

  // One more bit, not set.
  void grow() {
    ++size_;
    words_.resize((size_ + kWord - 1) / kWord);
  }

  // The first set bit in [from, end), nothing where there is none. O(words between).
  std::optional<std::size_t> first_in(std::size_t from, std::size_t end) const {
    while (from < end) {
      const std::uint64_t rest = words_[from / kWord] >> (from % kWord);
      if (rest != 0) {
        from += static_cast<std::size_t>(std::countr_zero(rest));
        return from < end ? std::optional(from) : std::nullopt;
      }
      from = (from / kWord + 1) * kWord;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kWord = 64;

  std::size_t size_;
  std::vector<std::uint64_t> words_;
};

}  // namespace order_timeout
