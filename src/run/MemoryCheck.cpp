#include "run/MemoryCheck.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/Error.hpp"
#include "model/CausalSize.hpp"
#include "model/TensorSlice.hpp"

namespace stereosweep::run {
namespace {

std::string gibibytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (std::uint64_t{1} << 30));
  return text;
}

std::string suggestion_of(const model::CausalSpecification& model, const domain::Job& job,
                          std::uint64_t bytes_per_number, std::uint64_t memory) {
  const auto group = model::smallest_group(model, bytes_per_number, job.execution.batch_tokens, memory);
  if (group && group->tensor_parallel > job.execution.tensor_parallel) {
    return "execution.tensor_parallel: " + std::to_string(group->tensor_parallel) + " needs " +
           gibibytes(group->total()) + " per rank";
  }
  return "take fewer ranks per node, a smaller execution.batch_tokens or a model.dtype of 16 bits";
}

}  // namespace

std::uint64_t host_memory() {
  std::uint64_t total = 0;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string name, unit; meminfo >> name;) {
    if (name == "MemTotal:") {
      meminfo >> total;
      total *= 1024;
      break;
    }
    std::getline(meminfo, unit);
  }
  for (const char* limit_file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(limit_file);
    if (std::uint64_t limit = 0; file >> limit && limit > 0) {  // "max": no limit
      total = total == 0 ? limit : std::min(total, limit);
    }
  }
  return total;
}

void require_memory(const domain::Job& job, const base::FileSet& small_files, const NodeMemory& memory) {
  if (small_files.find("config.json") == nullptr || !model::is_causal(small_files)) {
    return;
  }
  const auto model = model::read_causal_specification(small_files);
  const auto bytes_per_number = domain::size_of(job.model.dtype);
  const auto ranks = static_cast<std::uint64_t>(memory.ranks);
  model::slice_of(model, {0, job.execution.tensor_parallel});  // refuses what cannot be cut
  const auto own = model::memory_of(model, bytes_per_number, job.execution.batch_tokens, job.execution.tensor_parallel);
  if (memory.gpu > 0 && own.total() > memory.gpu) {
    throw base::InputError(base::describe(
        "the model does not fit the GPU: it needs " + gibibytes(own.total()) + " of " + gibibytes(memory.gpu),
        "weights " + gibibytes(own.weights) + ", a batch of " + std::to_string(job.execution.batch_tokens) +
            " tokens " + gibibytes(own.activations),
        suggestion_of(model, job, bytes_per_number, memory.gpu)));
  }
  const auto shared = memory.ranks > 1 ? memory.stored : 0;
  const auto needed = (memory.gpu > 0 ? 0 : ranks * own.total()) + shared;
  if (memory.host > 0 && needed > memory.host) {
    const auto left = memory.host > shared ? (memory.host - shared) / ranks : 0;
    throw base::InputError(base::describe(
        "the model does not fit the node: its " + std::to_string(memory.ranks) +
            (memory.ranks == 1 ? " rank needs " : " ranks need ") + gibibytes(needed) + " of " + gibibytes(memory.host),
        gibibytes(own.total()) + " per rank" + (shared > 0 ? ", " + gibibytes(shared) + " shared" : ""),
        suggestion_of(model, job, bytes_per_number, left)));
  }
}

}  // namespace stereosweep::run
