// FNV-1a over texts, each told apart from the next: the same texts give the same number everywhere.
// http://www.isthe.com/chongo/tech/comp/fnv
#pragma once

#include <cstdint>
#include <string_view>

namespace order_timeout {

class Fingerprint {
 public:
  void add(std::string_view text) {
    for (const char c : text) mix(static_cast<unsigned char>(c));
    mix(0x100);  // no byte: where the text ends
  }
  std::uint64_t value() const { return hash_; }

 private:
  void mix(std::uint64_t part) { hash_ = (hash_ ^ part) * 0x100000001B3ULL; }

  std::uint64_t hash_ = 0xCBF29CE484222325ULL;
};

}  // namespace order_timeout
