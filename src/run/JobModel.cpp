#include "run/JobModel.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "base/files/HubCache.hpp"
#include "base/process/Environment.hpp"
#include "base/process/Profile.hpp"
#include "base/text/Text.hpp"
#include "config/ProbeFormat.hpp"
#include "engine/EngineFactory.hpp"
#include "parallel/MpiSession.hpp"
#include "probes/ProbeKind.hpp"
#include "run/ServerAnswers.hpp"
#include "run/checks/MemoryCheck.hpp"
#include "run/checks/ModelCheck.hpp"
#include "server/ServerEngine.hpp"

namespace stereosweep::run {
namespace {

using parallel::coordinated;

/// GPUs that are paid for and not used are rarely what was meant.
void refuse_idle_gpus(const sweep::Job& job, const parallel::GpuBinding& gpu) {
  const auto granted = base::granted_gpus();
  base::refuse_if(
      job.execution.device == query::Device::automatic && gpu.name.empty() && !granted.empty(),
      "Slurm has granted GPUs (" + granted + "), but " + parallel::host_name() + " would compute on the processor",
      "no GPU can be used there: see nvidia-smi, and whether the build has CUDA",
      "If that is meant: execution.device=cpu");
}

/// What would be faster on this GPU, once a run.
void advise(const sweep::Job& job, const parallel::GpuBinding& gpu) {
  if (gpu.device < 0) {
    return;
  }
  if (const auto advice = engine::slow_dtype(job.model.dtype, gpu.capability); !advice.empty()) {
    base::log_once(base::LogLevel::warning, advice);
  }
  const auto& execution = job.execution;
  const auto defaults = config::format_of(job.probe_name()).defaults();
  if (config::ProbeFormat::Sizes{execution.contexts_per_block, execution.batch_tokens} == defaults.sizes) {
    base::log_once(
        base::LogLevel::warning,
        base::describe("batches of " + std::to_string(execution.batch_tokens) + " tokens leave most of a GPU idle",
                       "they are the default where the job does not say execution.device: cuda",
                       "execution.device: cuda takes " + std::to_string(defaults.on_gpu.batch_tokens) +
                           " tokens, and blocks of " + std::to_string(defaults.on_gpu.contexts_per_block) +
                           " contexts; a run that has begun keeps its own"));
  }
}

/// From the small files alone: what cannot run here, or cannot fit, is refused before its weights are read. Returns
/// where this node is to have these.
parallel::WeightPlace check_devices(ScoringParts& parts, const KeptModel& kept, const parallel::Communicator& world,
                                    const base::CheckpointPlace& checkpoint, ModelUse use) {
  const auto& job = parts.job;
  const auto settings = engine_settings(job);
  const auto node = world.node();
  const auto small_files =
      parallel::read_checkpoint_once(world, node, checkpoint, base::CheckpointPart::small_files).files;
  auto& gpu = parts.gpu;
  if (engine::may_use_gpu(settings, small_files)) {
    gpu = parallel::bind_gpu(world);
  }
  return coordinated(world, [&] {
    engine::require_gpu(settings, gpu);
    base::refuse_if(gpu.ranks > 1 && job.execution.tensor_parallel > 1,
                    "execution.tensor_parallel with several ranks on one GPU", "NCCL adds up over GPUs of their own",
                    "start one rank per GPU");
    auto memory = node_memory(node.size(), checkpoint);
    memory.gpu = gpu.free;
    memory.gpu_ranks = gpu.ranks;
    if (use == ModelUse::run && world.rank() == 0) {
      advise(job, gpu);
    }
    const bool has_room = require_memory(job, small_files, memory);
    if (use == ModelUse::run) {
      refuse_idle_gpus(job, gpu);
    }
    // Slices that lie on one node leave it the most room: no byte would be read less often.
    const bool is_worth_it = job.execution.tensor_parallel == 1 || node.size() < world.size();
    if (has_room && kept.is_for_a_later_job) {
      return parallel::WeightPlace::kept_memory;
    }
    return has_room && is_worth_it ? parallel::WeightPlace::node_memory : parallel::WeightPlace::files;
  });
}

/// Files of the adapter, and the ranks that have them by one reading. The model itself is in `kept`.
parallel::Checkpoint read_files(ScoringParts& parts, KeptModel& kept, const parallel::Communicator& world,
                                ModelUse use) {
  const base::profile::Span span("reading the model's files");
  const auto& asked = parts.job.model;
  const bool fake = is_fake(parts.job);
  const auto found = coordinated(world, [&] { return base::checkpoint_place(asked.location(), asked.adapter); });
  const auto place = fake ? parallel::WeightPlace::files : check_devices(parts, kept, world, found, use);
  const auto part = fake ? base::CheckpointPart::small_files : base::CheckpointPart::all_files;
  const auto node = world.node();
  const auto location = (fake ? "fake " : "") + asked.location();
  const bool is_there =
      kept.location == location && (kept.place == place || kept.place == parallel::WeightPlace::kept_memory);
  if (!world.all(is_there)) {
    kept.location.clear();
    kept.checkpoint = {base::FileSet(""), {}};  // its memory goes before the next is read
    kept.hashes.clear();
    kept.checkpoint = parallel::read_checkpoint_once(world, node, found.model, part, place);
    kept.location = location;
    kept.place = place;
  } else if (world.rank() == 0) {
    base::log(base::LogLevel::info, asked.location() + ": the files that the job before has read");
  }
  parts.files = kept.checkpoint.files;
  parallel::Checkpoint adapter{base::FileSet(""), world};
  if (!found.adapter.empty()) {
    adapter = parallel::read_checkpoint_once(world, node, {std::filesystem::path(), found.adapter}, part, place);
    for (const auto& [name, content] : adapter.files.files()) {
      parts.files.add(name, content);
    }
  }
  coordinated(world, [&] {
    parts.tokenizer.emplace(tokenizer::Tokenizer::from_files(parts.files));
    parts.tokenizer->log_warnings();
    require_mask(parts.job, *parts.tokenizer);
  });
  return adapter;
}

/// Collective: each file once among those that have it by one reading.
FileHashes hash_once(const sweep::Job& job, const parallel::Communicator& world,
                     const parallel::Checkpoint& checkpoint) {
  const auto& sharers = checkpoint.sharers;
  const auto own = coordinated(world, "hash_files", [&] {
    const base::profile::Span span("digests");
    const auto part = hash_files(job, checkpoint.files, {sharers.rank(), sharers.size()});
    return std::vector<std::pair<std::string, std::string>>(part.begin(), part.end());
  });
  const auto all = base::joined(sharers.gather_everywhere(own));
  return {all.begin(), all.end()};
}

/// Refuses a model whose every answer would be an error.
void require_prediction(const sweep::Job& job, const query::Engine& engine) {
  const auto prediction = probes::kind_of(job).prediction();
  if (!prediction) {
    return;
  }
  if (const auto why = engine.lacks(*prediction)) {
    base::refuse("model.path: " + job.probe_name() + " cannot ask '" + job.model.shown() + "'", *why,
                 *prediction == query::Prediction::masked
                     ? "Use a masked model with its head (BertForMaskedLM, RobertaForMaskedLM)."
                     : "Use a causal model with its head (...ForCausalLM).");
  }
}

}  // namespace

RunSettings read_model(ScoringParts& parts, KeptModel& kept, const parallel::Communicator& world, ModelUse use) {
  const auto& job = parts.job;
  FileHashes hashes;
  if (job.reads_model()) {
    const auto adapter = read_files(parts, kept, world, use);
    if (kept.hashes.empty()) {
      kept.hashes = hash_once(job, world, kept.checkpoint);
    }
    hashes = kept.hashes;
    if (!adapter.files.files().empty()) {
      hashes.merge(hash_once(job, world, adapter));
    }
  }
  auto devices =
      world.gather_everywhere(job.model.server         ? "a server"
                              : parts.gpu.name.empty() ? engine::device_description(engine_settings(job), parts.files)
                                                       : parts.gpu.name);
  std::ranges::sort(devices);
  const auto repeats = std::ranges::unique(devices);
  devices.erase(repeats.begin(), repeats.end());
  const auto device = base::join(devices, " + ");
  const auto node = world.node();
  RunSettings settings;
  coordinated(world, [&] {
    base::refuse_if(devices.size() > 1 && base::text_from_environment("STEREOSWEEP_MIXED_DEVICES") != "1",
                    "the ranks run on different devices: " + device,
                    "the last bits of a number would depend on the rank that scored it",
                    "STEREOSWEEP_MIXED_DEVICES=1 allows it, and the result says so");
    if (node.rank() == 0) {
      settings = with_software(make_settings(job, hashes, device), job, parts.gpu);
    }
  });
  const auto agreed = world.broadcast(settings.text, 0);
  coordinated(world, [&] {
    if (node.rank() == 0 && !job.model.server && settings.text != agreed) {
      base::refuse("this node has another checkpoint or other libraries than rank 0",
                   base::join(settings_differences(agreed, settings.text), "; "));
    }
  });
  return {agreed};
}

std::unique_ptr<query::Engine> make_engine(const ScoringParts& parts, const std::filesystem::path& run_directory,
                                           const std::optional<results::JournalHeader>& answers,
                                           const std::shared_ptr<parallel::TensorGroup>& group) {
  std::unique_ptr<query::Engine> engine;
  if (const auto& server = parts.job.model.server) {
    engine = server::make_server_engine(*server, open_answers(run_directory, answers));
  } else {
    parallel::use_gpu(parts.gpu);
    auto settings = engine_settings(parts.job);
    settings.tensor_group = group;
    engine = engine::make_engine(settings, parts.files, *parts.tokenizer);
  }
  require_prediction(parts.job, *engine);
  return engine;
}

}  // namespace stereosweep::run
