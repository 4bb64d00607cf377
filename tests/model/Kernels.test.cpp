#include "model/kernels/Kernels.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/AllocatorConfig.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include "base/Error.hpp"

namespace stereosweep::model {
namespace {

#ifdef STEREOSWEEP_WITH_CUDA

// Every symbol is resolved on load, so that a library that does not fit the program is found without a GPU.
TEST(Devices, LoadsAndRegistersTheVarlenAttention) {
  ASSERT_NO_THROW(load_cuda_library());
  const auto operation = c10::Dispatcher::singleton().findSchemaOrThrow("aten::_flash_attention_forward", "");
  EXPECT_TRUE(operation.hasKernelForDispatchKey(c10::DispatchKey::CUDA));
  ASSERT_NO_THROW(load_cuda_library()) << "a second call";
}

TEST(Devices, LetsSegmentsOfDeviceMemoryGrow) {
  load_cuda_library();
  EXPECT_STREQ(std::getenv("PYTORCH_CUDA_ALLOC_CONF"), "expandable_segments:True");
  EXPECT_TRUE(c10::CachingAllocator::AcceleratorAllocatorConfig::use_expandable_segments());
}

#else

TEST(Devices, IsRefusedByABuildWithoutCuda) {
  EXPECT_THROW(load_cuda_library(), base::Error);
  EXPECT_FALSE(cuda_ready());
}

#endif

TEST(Threads, OwnKernelsRunOnAsManyAsAreAskedFor) {
  const auto parts_of = [](int threads) {
    configure_threads(threads);
    std::mutex mutex;
    std::set<std::thread::id> seen;
    at::parallel_for(0, 64, 1, [&](std::int64_t, std::int64_t) {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    return seen.size();
  };
  EXPECT_EQ(parts_of(2), 2U);
  EXPECT_EQ(parts_of(3), 3U);
  EXPECT_EQ(parts_of(1), 1U);
}

}  // namespace
}  // namespace stereosweep::model
