// The yardstick of the programs that time a model's body: processor seconds of the best call, and the peak of square
// matrix products, as at::linear does them or with a prepacked weight.
#pragma once

#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

#include "model/kernels/Linear.hpp"

namespace stereosweep::bench {

// Processor seconds of this thread: other programs on the machine count little.
inline double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Of the fastest call, of as many as take `seconds`, at least three; one call before them warms up.
template <typename Work>
double best_seconds(const Work& work, double seconds = 1.5) {
  work();
  double best = 1e9;
  double spent = 0;
  for (int i = 0; spent < seconds || i < 3; ++i) {
    const double start = thread_seconds();
    work();
    const double took = thread_seconds() - start;
    best = std::min(best, took);
    spent += took;
  }
  return best;
}

// GFLOP/s
inline double matmul_peak(at::ScalarType type) {
  double best = 0;
  for (const std::int64_t size : {512, 1024, 2048}) {
    const auto side = static_cast<double>(size);
    const auto input = at::randn({size, size}, type);
    const auto weight = at::randn({size, size}, type);
    const model::Linear packed(weight, at::zeros({size}, type));
    const double seconds = std::min(best_seconds([&] { at::linear(input, weight); }, 0.4),
                                    best_seconds([&] { packed.apply(input); }, 0.4));
    best = std::max(best, 2e-9 * side * side * side / seconds);
  }
  return best;
}

}  // namespace stereosweep::bench
