#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "engine/OutOfMemory.hpp"

namespace stereosweep::engine {
namespace {

/// The kernel's flags of the mapping that holds `address` (proc_pid_smaps(5)).
std::string flags_of_mapping(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream mappings("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(mappings, line);) {
    std::istringstream fields(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    if (fields >> std::hex >> begin >> dash >> end && dash == '-') {
      inside = begin <= wanted && wanted < end;
    }
    if (inside && line.starts_with("VmFlags:")) {
      return line + ' ';
    }
  }
  return "";
}

TEST(HostMemoryTest, LogitsOfALargeVocabularyLieInLargePages) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage/enabled")) {
    GTEST_SKIP() << "this kernel has no transparent large pages";
  }
  prepare_host_memory();
  prepare_host_memory();
  const auto large = at::empty({128, 129280}, at::kFloat);
  const auto* const middle = large.const_data_ptr<float>() + large.numel() / 2;
  EXPECT_NE(flags_of_mapping(middle).find(" hg "), std::string::npos) << flags_of_mapping(middle);
}

TEST(HostMemoryTest, WhatIsKeptIsLeftAsItWas) {
  prepare_host_memory();
  const auto small = at::empty({64, 1024}, at::kFloat);
  const auto flags = flags_of_mapping(small.const_data_ptr<float>());
  EXPECT_FALSE(flags.empty());
  EXPECT_EQ(flags.find(" hg "), std::string::npos) << flags;
}

TEST(HostMemoryTest, LargeTensorsAreCopiedAndResizedAsBefore) {
  prepare_host_memory();
  auto large = at::empty({9000, 1024}, at::kFloat);
  large.fill_(2.5);
  const auto copy = large.clone();
  large.resize_({18000, 1024});
  EXPECT_EQ(copy.select(0, 8999).min().item<float>(), 2.5F);
  EXPECT_EQ(large.select(0, 8999).max().item<float>(), 2.5F);
}

}  // namespace
}  // namespace stereosweep::engine
