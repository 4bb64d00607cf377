#include "model/kernels/Kernels.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

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

#else

TEST(Devices, IsRefusedByABuildWithoutCuda) {
  EXPECT_THROW(load_cuda_library(), base::Error);
  EXPECT_FALSE(cuda_ready());
}

#endif

}  // namespace
}  // namespace stereosweep::model
