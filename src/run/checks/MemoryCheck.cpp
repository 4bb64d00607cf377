#include "run/checks/MemoryCheck.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/Error.hpp"
#include "base/Random.hpp"
#include "engine/causal/Generation.hpp"
#include "model/families/Families.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"
#include "sweep/Product.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::run {
namespace {

std::string gibibytes(std::uint64_t bytes) {
  return probes::format_number("%.1f GiB", static_cast<double>(bytes) / (std::uint64_t{1} << 30));
}

std::string suggestion_of(const model::CausalSpecification& model, const sweep::Job& job, const model::Load& load,
                          std::uint64_t memory) {
  const auto group = model::smallest_group(model, query::size_of(job.model.dtype), load, memory);
  if (group && group->tensor_parallel > job.execution.tensor_parallel) {
    return "execution.tensor_parallel: " + std::to_string(group->tensor_parallel) + " needs " +
           gibibytes(group->total()) + " per rank";
  }
  return "take fewer ranks per node, a smaller execution.batch_tokens or a model.dtype of 16 bits";
}

std::string parts_of(const model::RankMemory& own, const model::Load& load) {
  const auto batch = "weights " + gibibytes(own.weights) + ", a batch of " + std::to_string(load.batch_tokens) +
                     " tokens " + gibibytes(own.activations);
  const auto kept =
      own.kept == 0 ? "" : ", " + std::to_string(load.kept.all) + " rows of sampled answers " + gibibytes(own.kept);
  return batch + kept + (own.gpu == 0 ? "" : ", parts of attention, logits and CUDA's libraries " + gibibytes(own.gpu));
}

/// The least memory that a control group of this process, or one above it, allows; 0: none says.
std::uint64_t control_group_memory() {
  std::uint64_t least = 0;
  std::ifstream groups("/proc/self/cgroup");  // ID:CONTROLLERS:PATH; version 2 has no controllers
  for (std::string line; std::getline(groups, line);) {
    const auto controllers = line.find(':') + 1;
    const auto colon = line.find(':', controllers);
    if (controllers == 0 || colon == std::string::npos) {
      continue;
    }
    const auto names = "," + line.substr(controllers, colon - controllers) + ",";
    const bool is_first_version = names.find(",memory,") != std::string::npos;
    if (!is_first_version && names != ",,") {
      continue;
    }
    const std::filesystem::path root(is_first_version ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup");
    const char* name = is_first_version ? "memory.limit_in_bytes" : "memory.max";
    for (auto path = std::filesystem::path(line.substr(colon + 1)).relative_path();; path = path.parent_path()) {
      std::ifstream file(root / path / name);
      if (std::uint64_t limit = 0; file >> limit && limit > 0) {  // "max": no limit
        least = least == 0 ? limit : std::min(least, limit);
      }
      if (path.empty()) {
        break;
      }
    }
  }
  return least;
}

/// What there is, or what the control groups allow; 0: unknown.
std::uint64_t host_memory() {
  const auto pages = std::max(::sysconf(_SC_PHYS_PAGES), 0L);
  const auto total = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto limit = control_group_memory();
  return total == 0 || limit == 0 ? std::max(total, limit) : std::min(total, limit);
}

/// Stands for answers: texts as long as they may become, each another.
std::vector<query::Answer> longest_answers(std::span<const query::Query> queries,
                                           const tokenizer::Tokenizer& tokenizer) {
  std::vector<query::Answer> answers;
  for (const auto& one : queries) {
    query::GenerateAnswer answer;
    const auto* asked = std::get_if<query::Generate>(&one);
    for (std::int32_t i = 0; asked != nullptr && i < asked->max_new_tokens; ++i) {
      const auto draw =
          base::random_below(tokenizer.size(), asked->seed, answers.size(), static_cast<std::uint64_t>(i));
      answer.ids.push_back(static_cast<query::TokenId>(draw));
    }
    answer.text = tokenizer.decode(answer.ids, tokenizer::Tokenizer::Special::skip);
    answers.emplace_back(std::move(answer));
  }
  return answers;
}

}  // namespace

model::Load load_of(const sweep::Job& job, const base::FileSet& small_files,
                    const model::CausalSpecification& specification) {
  constexpr std::uint64_t most_contexts = 2048;
  constexpr std::uint64_t most_conversations = 64;
  model::Load load{job.execution.batch_tokens, {}};
  if (!probes::kind_of(job).samples_text(job)) {
    return load;
  }
  const auto tokenizer = tokenizer::Tokenizer::from_files(small_files);
  const auto probe = probes::make_probe(job, tokenizer);
  const auto shape = model::shape_of(specification);
  const auto wave_rows = engine::batches_per_wave * job.execution.batch_tokens;
  const auto note = [&](std::vector<query::Query> queries) {
    std::erase_if(queries, [](const query::Query& one) { return !std::holds_alternative<query::Generate>(one); });
    const auto openings = engine::plan_causal(queries, tokenizer, shape).openings;
    // on a GPU at most a row a text more
    const auto kept = engine::most_kept_rows(queries, openings, wave_rows, model::Kernels::own_kernels);
    load.kept.prompts = std::max(load.kept.prompts, kept.prompts);
    load.kept.all = std::max(load.kept.all, kept.all);
  };
  for (const auto& block : sweep::sample_blocks(probe->blocks(), most_contexts)) {
    note(probe->first(block).queries);
  }
  for (const auto& block : sweep::sample_blocks(probe->blocks(), most_conversations)) {  // they hold the answers before
    probes::Transcript transcript;
    for (std::optional<probes::Round> round = probe->first(block); round; round = probe->next(block, transcript)) {
      transcript.answers.push_back(longest_answers(round->queries, tokenizer));
      if (!transcript.rounds.empty()) {
        note(round->queries);
      }
      transcript.rounds.push_back(std::move(*round));
    }
  }
  if (probe->asks_again() && load.kept.all < wave_rows) {  // the memory of a session grows by halves
    load.kept.all = std::min(wave_rows, load.kept.all + load.kept.all / 2);
  }
  return load;
}

NodeMemory node_memory(int ranks, const base::CheckpointPlace& model) {
  NodeMemory memory{.ranks = ranks, .host = host_memory()};
  for (const auto& [name, size] : base::list_checkpoint_files(model)) {
    memory.stored += base::is_weight_file(name) ? size : 0;
  }
  return memory;
}

bool require_memory(const sweep::Job& job, const base::FileSet& small_files, const NodeMemory& memory) {
  if (small_files.find("config.json") == nullptr || !model::is_causal(small_files)) {
    return true;
  }
  const auto model = model::read_causal_specification(small_files);
  const auto ranks = static_cast<std::uint64_t>(memory.ranks);
  model::slice_of(model, {0, job.execution.tensor_parallel});  // refuses what cannot be cut
  auto load = load_of(job, small_files, model);
  load.place = memory.gpu > 0 ? model::Place::gpu : model::Place::processor;
  const auto own = model::memory_of(model, query::size_of(job.model.dtype), load, job.execution.tensor_parallel);
  const auto gpu_share = memory.gpu / static_cast<std::uint64_t>(memory.gpu_ranks);
  if (memory.gpu > 0 && own.total() > gpu_share) {
    base::refuse(
        "the model does not fit the GPU: it needs " + gibibytes(own.total()) + " of " + gibibytes(gpu_share) + " free" +
            (memory.gpu_ranks > 1 ? " for each of the " + std::to_string(memory.gpu_ranks) + " ranks that share it"
                                  : ""),
        parts_of(own, load), suggestion_of(model, job, load, gpu_share));
  }
  const auto held = memory.gpu > 0 ? 0 : ranks * own.total();
  const auto shared = memory.ranks > 1 && job.execution.tensor_parallel == 1 ? memory.stored : 0;
  const auto needed = held + shared;
  if (memory.host > 0 && needed > memory.host) {
    const auto left = memory.host > shared ? (memory.host - shared) / ranks : 0;
    base::refuse("the model does not fit the node: its " + std::to_string(memory.ranks) +
                     (memory.ranks == 1 ? " rank needs " : " ranks need ") + gibibytes(needed) + " of " +
                     gibibytes(memory.host),
                 gibibytes(own.total()) + " per rank: " + parts_of(own, load) +
                     (shared > 0 ? "; " + gibibytes(shared) + " shared" : ""),
                 suggestion_of(model, job, load, left));
  }
  return memory.host == 0 || held + memory.stored <= memory.host;
}

}  // namespace stereosweep::run
