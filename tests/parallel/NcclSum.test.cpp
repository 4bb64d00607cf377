#include "parallel/NcclSum.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parallel/GpuBinding.hpp"

namespace stereosweep::parallel {
namespace {

// One rank: the library is found, joins, sums and leaves. Sums over several GPUs need several GPUs.
TEST(NcclSumOnGpu, OneRankKeepsItsNumbers) {
  if (count_gpus() == 0) {
    GTEST_SKIP() << "no GPU is visible";
  }
  const std::vector<float> numbers = {1, -2, 3.5F, 0};
  const auto bytes = numbers.size() * sizeof(float);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(memory, numbers.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
  {
    NcclSum sum(NcclSum::make_name(), 0, 1, {[] { return false; }, [](const std::string&) {}});
    sum.add_up(static_cast<float*>(memory), std::ssize(numbers), nullptr);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<float> back(numbers.size());
  ASSERT_EQ(cudaMemcpy(back.data(), memory, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back, numbers);
  cudaFree(memory);
}

}  // namespace
}  // namespace stereosweep::parallel
