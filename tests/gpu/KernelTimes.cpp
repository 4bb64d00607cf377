// Which kernels a program runs on a GPU, how often and how long: loaded by CUDA itself into any program that is started
// with CUDA_INJECTION64_PATH=FOLDER/libkernel_times.so STEREOSWEEP_KERNEL_TIMES=FILE. At the program's end FILE holds
// one line for each kernel and copy, the longest first: seconds, number, name; before them the seconds from the first
// to the last of them, and the part of these in which none ran. It costs some time for each launch: compare shares, not
// speeds.

#include <cupti.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

constexpr std::size_t buffer_bytes = 8 << 20;

struct Interval {
  std::uint64_t begin;
  std::uint64_t end;
};

struct Total {
  std::uint64_t nanoseconds = 0;
  std::uint64_t count = 0;
};

struct Records {
  std::mutex mutex;
  std::map<std::string, Total> totals;
  std::vector<Interval> intervals;
  std::uint64_t lost = 0;
};

// Never destroyed: CUPTI's threads may hand over buffers while the program ends.
Records& records() {
  static auto* const all = new Records;
  return *all;
}

std::string readable(const char* name) {
  int status = 0;
  char* found = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  const std::string text = status == 0 ? found : name;
  std::free(found);
  return text;
}

void add(const std::string& name, std::uint64_t begin, std::uint64_t end) {
  auto& total = records().totals[name];
  total.nanoseconds += end - begin;
  ++total.count;
  records().intervals.push_back({begin, end});
}

void add(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel10&>(record);
      add(kernel.name == nullptr ? "a kernel without a name" : kernel.name, kernel.start, kernel.end);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
      add("copy " + std::to_string(copy.copyKind) + (copy.bytes > 65536 ? ", large" : ", small"), copy.start, copy.end);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& set = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
      add("set", set.start, set.end);
      break;
    }
    default:
      break;
  }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
  *size = *buffer == nullptr ? 0 : buffer_bytes;
  *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t /*size*/,
                          std::size_t valid) {
  const std::lock_guard lock(records().mutex);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    add(*record);
  }
  std::size_t lost = 0;
  cuptiActivityGetNumDroppedRecords(context, stream, &lost);
  records().lost += lost;
  std::free(buffer);
}

// Nanoseconds in which at least one kernel or copy ran.
std::uint64_t busy(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const auto& left, const auto& right) { return left.begin < right.begin; });
  std::uint64_t sum = 0;
  std::uint64_t reached = 0;
  for (const auto& [begin, end] : intervals) {
    sum += end > reached ? end - std::max(begin, reached) : 0;
    reached = std::max(reached, end);
  }
  return sum;
}

void write_report() {
  cuptiActivityFlushAll(1);
  const std::lock_guard lock(records().mutex);
  auto& all = records();
  const char* path = std::getenv("STEREOSWEEP_KERNEL_TIMES");
  std::ofstream out(path == nullptr ? "kernel_times.txt" : path);
  if (all.intervals.empty()) {
    out << "no kernel ran\n";
    return;
  }
  const auto busy_time = busy(all.intervals);
  std::uint64_t end = 0;
  for (const auto& interval : all.intervals) {
    end = std::max(end, interval.end);
  }
  const auto whole = end - all.intervals.front().begin;
  out << "whole " << static_cast<double>(whole) / 1e9 << " s, idle " << static_cast<double>(whole - busy_time) / 1e9
      << " s, " << all.intervals.size() << " kernels and copies, " << all.lost << " lost\n";
  std::map<std::string, Total> named;
  for (const auto& [name, total] : all.totals) {
    auto& sum = named[readable(name.c_str())];
    sum.nanoseconds += total.nanoseconds;
    sum.count += total.count;
  }
  std::vector<std::pair<std::string, Total>> lines(named.begin(), named.end());
  std::sort(lines.begin(), lines.end(),
            [](const auto& left, const auto& right) { return left.second.nanoseconds > right.second.nanoseconds; });
  for (const auto& [name, total] : lines) {
    out << static_cast<double>(total.nanoseconds) / 1e9 << ' ' << total.count << ' ' << name.substr(0, 240) << '\n';
  }
}

}  // namespace

extern "C" int InitializeInjection() {
  if (cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS) {
    return 0;
  }
  for (const auto kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET}) {
    if (cuptiActivityEnable(kind) != CUPTI_SUCCESS) {
      return 0;
    }
  }
  return std::atexit(write_report) == 0 ? 1 : 0;
}
