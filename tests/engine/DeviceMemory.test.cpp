#include <gtest/gtest.h>

#include "engine/OutOfMemory.hpp"

namespace stereosweep::engine {
namespace {

TEST(DeviceMemory, AFullGpuIsRefusedWithTheNumbers) {
  const auto allocate = [] {
    TORCH_CHECK_WITH(OutOfMemoryError, false,
                     "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 79.11 GiB of "
                     "which 1.20 GiB is free. Including memory of others this process has 77.90 GiB memory in use.");
    return 0;
  };
  try {
    within_device_memory("computing batches of 16384 tokens", allocate);
    FAIL() << "nothing was thrown";
  } catch (const base::Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("computing batches of 16384 tokens"), std::string::npos) << text;
    EXPECT_NE(text.find("Tried to allocate 20.00 GiB"), std::string::npos) << text;
    EXPECT_NE(text.find("1.20 GiB is free"), std::string::npos) << text;
    EXPECT_EQ(text.find("Including"), std::string::npos) << text;
    EXPECT_NE(text.find("batch_tokens"), std::string::npos) << text;
    EXPECT_EQ(error.exit_code(), base::ExitCode::error);
  }
}

TEST(DeviceMemory, AnythingElsePasses) {
  EXPECT_EQ(within_device_memory("counting", [] { return 3; }), 3);
  EXPECT_THROW(within_device_memory("failing", []() -> int { throw std::out_of_range("x"); }), std::out_of_range);
}

}  // namespace
}  // namespace stereosweep::engine
