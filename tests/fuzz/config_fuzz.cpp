// libFuzzer's entry: any bytes as a configuration file (config_target.hpp).
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/config_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const std::string mistake = order_timeout::fuzz::mistake_with(text);
  if (!mistake.empty()) {
    std::fprintf(stderr, "%s\n", mistake.c_str());
    std::abort();
  }
  return 0;
}
