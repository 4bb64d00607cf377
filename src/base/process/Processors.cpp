#include "base/process/Processors.hpp"

#include <malloc.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <latch>
#include <stop_token>
#include <thread>
#include <vector>

namespace stereosweep::base {
namespace {

constexpr std::size_t largest_set = 1024;  // bytes; the kernel refuses less than it has processors: at most 8,192

/// Nothing happens where the kernel refuses: all threads then share the processors that they had.
void run_on(std::string set) {
  set.resize((set.size() + sizeof(cpu_set_t) - 1) / sizeof(cpu_set_t) * sizeof(cpu_set_t));
  if (!set.empty()) {
    ::sched_setaffinity(0, set.size(), reinterpret_cast<const cpu_set_t*>(set.data()));
  }
}

}  // namespace

std::string own_processors() {
  std::string set(largest_set, '\0');
  if (::sched_getaffinity(0, set.size(), reinterpret_cast<cpu_set_t*>(set.data())) != 0) {
    return "";
  }
  set.resize(set.find_last_not_of('\0') + 1);
  return set;
}

unsigned num_own_processors() {
  int count = 0;
  for (const auto byte : own_processors()) {
    count += std::popcount(static_cast<std::uint8_t>(byte));
  }
  return static_cast<unsigned>(std::max(1, count));
}

ProcessorLoan::ProcessorLoan(std::span<const std::string> sets) : own_(own_processors()) {
  auto all = own_;
  for (const auto& set : sets) {
    all.resize(std::max(all.size(), set.size()));
    for (std::size_t byte = 0; byte < set.size(); ++byte) {
      all[byte] = static_cast<char>(static_cast<unsigned char>(all[byte]) | static_cast<unsigned char>(set[byte]));
    }
  }
  run_on(all);
}

ProcessorLoan::~ProcessorLoan() { run_on(own_); }

void require_threads(int count) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([](const std::stop_token& stop) {
      std::latch may_end(1);
      const std::stop_callback end(stop, [&] { may_end.count_down(); });
      may_end.wait();
    });
  }
}  // which asks each to stop and waits for it

void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that glibc accepts
  ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
  ::mallopt(M_TOP_PAD, 16 << 20);
}

}  // namespace stereosweep::base
