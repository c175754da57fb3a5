// How it is measured: the CPU time of this thread for whole phases, the wall clock for single
// calls.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace bench {

inline double cpu_ns() {
  timespec at{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec) * 1e9 + static_cast<double>(at.tv_nsec);
}

inline double resident_bytes() {
  long total = 0;
  long resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  const int read = std::fscanf(file, "%ld %ld", &total, &resident);
  std::fclose(file);
  return read == 2 ? static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) : 0;
}

// The durations of single calls. A long one in which the kernel gave the core to somebody else says
// nothing of the call: it only counts for the wall clock.
class Calls {
 public:
  void begin() { began_ = std::chrono::steady_clock::now(); }
  void end() {
    const auto now = std::chrono::steady_clock::now();
    const auto ns = static_cast<std::uint64_t>((now - began_).count());
    began_ = now;
    buckets_[bucket(ns)] += 1;
    count_ += 1;
    if (ns <= longest_) return;
    const long switched = switches();
    if (switched == switches_) longest_ = ns;
    switches_ = switched;
  }

  double longest_ns() const { return static_cast<double>(longest_); }
  // The upper end of the bucket in which the quantile falls, at most 1/16 too high.
  double wall_ns(double quantile) const {
    const double wanted = quantile * static_cast<double>(count_);
    double seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += static_cast<double>(buckets_[i]);
      if (seen >= wanted) return upper(i);
    }
    return 0;
  }

 private:
  static std::size_t bucket(std::uint64_t ns) {
    if (ns < 16) return ns;
    const auto bits = static_cast<std::size_t>(std::bit_width(ns)) - 5;
    return bits * 16 + (ns >> bits);
  }
  static double upper(std::size_t bucket) {
    if (bucket < 32) return static_cast<double>(bucket);
    const std::size_t bits = bucket / 16 - 1;
    return static_cast<double>((bucket - bits * 16 + 1) << bits);
  }
  static long switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw + usage.ru_nvcsw;
  }

  std::chrono::steady_clock::time_point began_;
  std::array<std::uint64_t, 1'024> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t longest_ = 0;
  long switches_ = switches();
};

}  // namespace bench
