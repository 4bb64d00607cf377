#include "model/kernels/Kernels.hpp"

#include <cstdlib>
#include <string>

#include "base/Error.hpp"

namespace stereosweep::model {

namespace {

Kernels kernels_on_cpu() {
  const char* const named = std::getenv("STEREOSWEEP_KERNELS");
  const std::string name = named == nullptr ? "" : named;
  if (name.empty() || name == "own_kernels") {
    return Kernels::own_kernels;
  }
  if (name == "operators") {
    return Kernels::operators;
  }
  throw base::InputError(
      base::describe("STEREOSWEEP_KERNELS is '" + name + "'", "there are own_kernels and operators"));
}

}  // namespace

Kernels kernels_on(const c10::Device& device) {
  if (!device.is_cpu()) {
    return Kernels::operators;
  }
  static const Kernels chosen = kernels_on_cpu();
  return chosen;
}

bool has(Instructions instructions) {
  switch (instructions) {
    case Instructions::avx512:
      return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
             __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
    case Instructions::avx2:
      return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    default:
      return true;
  }
}

}  // namespace stereosweep::model
