#include "app/ModelPlan.hpp"

#include <ostream>
#include <string>

#include "base/Error.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "model/checkpoint/quantized/Quantized.hpp"
#include "model/families/Families.hpp"
#include "probes/PlanText.hpp"

namespace stereosweep::app {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;
constexpr std::size_t choices_shown = 5;
constexpr const char* index_file = "model.safetensors.index.json";

std::string gibibytes(std::uint64_t bytes) {
  const double value = static_cast<double>(bytes) / gib;
  return probes::format_number(value < 10 ? "%.2f GiB" : "%.1f GiB", value);
}

/// Bytes that the index says are stored; nothing without an index.
std::optional<std::uint64_t> stored_bytes(const base::FileSet& files) {
  const auto* index = files.find(index_file);
  if (index == nullptr) {
    return std::nullopt;
  }
  const auto json = base::parse_json(index->text(), files.directory() + "/" + index_file);
  const base::Json::json_pointer total("/metadata/total_size");
  return json.contains(total) && json.at(total).is_number_unsigned()
             ? std::optional(json.at(total).get<std::uint64_t>())
             : std::nullopt;
}

void print_choice(std::ostream& out, const model::CausalSpecification& model, const sweep::Job& job,
                  const model::Load& load, std::optional<std::uint64_t> gpu_bytes) {
  const auto bytes_per_number = query::size_of(job.model.dtype);
  const auto given = job.execution.tensor_parallel;
  try {
    model::slice_of(model, {0, given});
  } catch (const base::InputError& error) {
    probes::plan_line(out, "REFUSED") << error.what() << '\n';
    return;
  }
  if (!gpu_bytes) {
    probes::plan_line(out, "for GPUs") << "--gpu-memory GiB tells the smallest execution.tensor_parallel that fits\n";
    return;
  }
  const auto fitting = model::smallest_group(model, bytes_per_number, load, *gpu_bytes);
  auto& line = probes::plan_line(out, "choice");
  if (!fitting) {
    line << "no group fits GPUs of " << gibibytes(*gpu_bytes)
         << ": take a smaller execution.batch_tokens or a dtype of 16 bits\n";
  } else {
    line << "execution.tensor_parallel: " << fitting->tensor_parallel << " is the smallest that fits GPUs of "
         << gibibytes(*gpu_bytes) << " (" << gibibytes(fitting->total()) << " each)\n";
  }
  const auto own = model::memory_of(model, bytes_per_number, load, given);
  if (own.total() > *gpu_bytes) {
    probes::plan_line(out, "too large") << "the job's tensor_parallel: " << given << " needs " << gibibytes(own.total())
                                        << " per GPU; on a CPU node it needs " << gibibytes(own.total() - own.gpu)
                                        << " per rank\n";
  }
}

}  // namespace

void print_model_plan(std::ostream& out, const base::FileSet& files, const sweep::Job& job, model::Load load,
                      std::optional<std::uint64_t> gpu_bytes) {
  load.place = gpu_bytes ? model::Place::gpu : model::Place::processor;
  const auto model = model::read_causal_specification(files);
  const auto size = model::size_of(model);
  const auto bytes_per_number = query::size_of(job.model.dtype);
  probes::plan_line(out, "model") << model.family << ": " << base::with_thousands(size.embedding + size.layers)
                                  << " numbers (" << base::counted(model.layers.size(), "layer") << ", " << model.hidden
                                  << " wide, " << model.num_heads << " query and "
                                  << base::counted(static_cast<std::uint64_t>(model.num_key_heads), "key head");
  if (model.experts.count > 0) {
    out << ", " << base::counted(static_cast<std::uint64_t>(model.experts.count), "expert") << " of which a token uses "
        << model.experts.per_token;
  }
  out << "), at most " << base::with_thousands(static_cast<std::uint64_t>(model.max_tokens)) << " tokens\n";
  probes::plan_line(out, "weights") << gibibytes((size.embedding + size.layers) * bytes_per_number) << " in "
                                    << query::name_of(job.model.dtype);
  if (const auto stored = stored_bytes(files)) {
    out << "; the index says that " << gibibytes(*stored) << " are stored";
  }
  if (const auto storage = model::describe_storage(files); !storage.empty()) {
    out << "; stored as " << storage;
  }
  if (!job.model.adapter.empty()) {
    out << "; the adapter " << job.model.adapter << " is merged into them";
  }
  out << "; read once per node into shared memory\n";
  std::size_t shown = 0;
  for (const int ranks : model::tensor_parallel_choices(model)) {
    const auto memory = model::memory_of(model, bytes_per_number, load, ranks);
    probes::plan_line(out, shown > 0   ? ""
                           : gpu_bytes ? "per GPU"
                                       : "per rank")
        << "tensor_parallel " << ranks << ": " << gibibytes(memory.total()) << " (weights " << gibibytes(memory.weights)
        << ", batch " << gibibytes(memory.activations);
    if (memory.kept > 0) {
      out << ", answers " << gibibytes(memory.kept);
    }
    out << (memory.gpu > 0 ? ", CUDA " + gibibytes(memory.gpu) : "") << ")\n";
    if (++shown == choices_shown) {
      break;
    }
  }
  print_choice(out, model, job, load, gpu_bytes);
}

}  // namespace stereosweep::app
