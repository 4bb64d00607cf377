#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <cstdlib>
#include <string>

#include "base/Error.hpp"
#include "model/MaskedModel.hpp"

namespace stereosweep::model {

void configure_threads(int threads) {
  if (threads < 1) {
    throw base::InputError(
        base::describe("threads = " + std::to_string(threads), "at least one thread must do the work"));
  }
  // MKL reads this at its first call; without it the bits of a product may follow the alignment of its operands.
  ::setenv("MKL_CBWR", "AUTO,STRICT", 0);
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  static const bool interop_set = [] {
    at::set_num_interop_threads(1);
    return true;
  }();
  static_cast<void>(interop_set);
  at::set_num_threads(threads);
  auto& context = at::globalContext();
  context.setDeterministicAlgorithms(true, false);
  context.setDeterministicFillUninitializedMemory(false);
  context.setBenchmarkCuDNN(false);
  context.setSDPUseCuDNN(false);  // it would look for a plan for every new shape
  context.setAllowTF32CuBLAS(false);
  // Parts of a split sum are added in float32. Split sums themselves must stay allowed: forbidding them makes every
  // 16-bit product throw that torch does not give to cuBLASLt (those without a bias, and the vocabulary's).
  context.setAllowBF16ReductionCuBLAS(false);
  context.setAllowFP16ReductionCuBLAS(false);
}

}  // namespace stereosweep::model
