#include "run/OneJob.hpp"

#include <algorithm>
#include <fstream>

#include "base/Environment.hpp"
#include "base/Error.hpp"
#include "base/FaultInjection.hpp"
#include "base/File.hpp"
#include "base/Json.hpp"
#include "base/Log.hpp"
#include "base/Text.hpp"
#include "engine/EngineFactory.hpp"
#include "parallel/Communicator.hpp"
#include "parallel/MpiSession.hpp"
#include "parallel/NodeFiles.hpp"
#include "run/JobStages.hpp"
#include "run/MemoryCheck.hpp"
#include "run/ModelCheck.hpp"

namespace stereosweep::run {
namespace {

using parallel::coordinated;

std::optional<ReadStatus> read_status_or_nothing(const std::filesystem::path& root) {
  try {
    return read_status(root);
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

/// What an earlier attempt has finished stands until the journal is read: this one may end before.
RunStatus first_status(const std::optional<ReadStatus>& earlier) {
  RunStatus status;
  if (earlier) {
    status = earlier->status;
    status.state = RunStatus().state;
    status.cause.clear();
    status.slowest.clear();
    status.cells_per_second = status.tokens_per_second = status.seconds_left = 0;
  }
  return status;
}

/// GPUs that are paid for and not used are rarely what was meant.
void refuse_idle_gpus(const sweep::Job& job, const parallel::GpuBinding& gpu) {
  const auto granted = base::granted_gpus();
  if (job.execution.device == query::Device::automatic && gpu.name.empty() && !granted.empty()) {
    throw base::InputError(base::describe(
        "Slurm has granted GPUs (" + granted + "), but " + parallel::host_name() + " would compute on the processor",
        "no GPU can be used there: see nvidia-smi, and whether the build has CUDA",
        "If that is meant: execution.device=cpu"));
  }
}

/// Which run directories this start has opened, for the batch script, which reads the ends there (slurm/step.sh).
void tell_batch_script(const std::filesystem::path& root) {
  if (const auto file = base::text_from_environment("STEREOSWEEP_STARTS"); !file.empty()) {
    std::ofstream(file, std::ios::app) << "in " << std::filesystem::absolute(root).string() << '\n';
  }
}

}  // namespace

base::ExitCode OneJob::run() {
  try {
    prepare();
    return JobStages(parts_).run();
  } catch (const std::exception& error) {
    parts_.write_end("failed", error.what());
    throw;
  }
}

void OneJob::prepare() {
  parts_.hosts = parts_.world.gather_everywhere(parallel::host_name());
  coordinated(parts_.world, "open_directory", [&] {
    if (parts_.leads()) {
      open_directory();
    }
  });
  parts_.stop_at_once_on_signal();
  TensorRanks(parts_.world, parts_.job().execution.tensor_parallel);  // refused here, before anything is read
  read_model();
  agree_on_settings();
  coordinated(parts_.world, [&] {
    if (parts_.leads() && overwrite_) {
      begin_anew();
    }
  });
}

/// Before --overwrite touches anything: what an older run holds is not to be lost by a slip.
void OneJob::check_reuse() const {
  const auto& reuse = parts_.request.reuse;
  if (reuse.empty()) {
    return;
  }
  require_reusable(reuse);
  std::error_code ignored;
  if (std::filesystem::equivalent(reuse, parts_.directory.root(), ignored)) {
    throw base::InputError(base::describe("--overwrite would delete what --reuse " + reuse.string() + " names", "",
                                          "give another --output"));
  }
}

void OneJob::open_directory() {
  auto& directory = parts_.directory;
  directory.create();
  overwrite_ = parts_.request.existing == RunRequest::Existing::overwrite && !base::is_requeued();
  if (overwrite_) {
    check_reuse();
  } else {
    directory.require_same_job(parts_.job());
  }
  parts_.lease.emplace(directory.root());
  std::vector<std::string> replaced;
  if (!overwrite_) {
    directory.require_same_job(parts_.job());  // again: whoever held the lock may have started another job
    replaced = directory.differences(parts_.job());
    if (!replaced.empty()) {
      directory.remove_run_files();
    }
  }
  base::set_log_file(directory.log().string());
  if (!replaced.empty()) {
    base::log(base::LogLevel::info, directory.root().string() + ": an earlier start of another job (" +
                                        first_few(replaced) + ") had scored nothing, and is replaced");
  }
  if (!base::active_faults().empty()) {
    base::log(base::LogLevel::warning, "faults are injected: STEREOSWEEP_INJECT=" + base::active_faults());
  }
  if (base::is_requeued() && parts_.request.existing == RunRequest::Existing::overwrite) {
    base::log(base::LogLevel::warning, "--overwrite is ignored: Slurm has started this job again, so it is continued");
  }
  const auto earlier = read_status_or_nothing(directory.root());
  // an .h5 alone may be a partial one (`stereosweep export` of a run)
  parts_.exported = earlier && earlier->status.state == "done";
  std::error_code ignored;
  if (earlier) {
    parts_.old_status = base::read_file(directory.status());
  }
  if (parts_.exported || overwrite_) {
    parts_.keep_earlier_end();
  }
  auto status = first_status(overwrite_ ? std::nullopt : earlier);
  status.name = parts_.job().name;
  status.num_ranks = parts_.world.size();
  status.started = base::utc_now();
  parts_.open_status(status);
  tell_batch_script(directory.root());
  if (!std::filesystem::exists(directory.resolved_job(), ignored)) {
    parts_.write_resolved_job();
  }
}

/// The old run goes only now that the new one can begin.
void OneJob::begin_anew() {
  const auto& directory = parts_.directory;
  parts_.lease->check();
  directory.remove_run_files();
  parts_.exported = false;
  parts_.old_status.clear();
  parts_.forget_earlier_end();
  base::set_log_file(directory.log().string());
  parts_.status->update([](RunStatus&) {});
  parts_.write_resolved_job();
}

/// From the small files alone: what cannot run here, or cannot fit, is refused before its weights are read.
void OneJob::check_devices() {
  const auto& path = parts_.job().model.path;
  const auto settings = engine_settings(parts_.job());
  const auto small_files = parallel::read_checkpoint_once(parts_.world, path, base::CheckpointPart::small_files);
  auto& gpu = parts_.scoring->gpu;
  if (engine::may_use_gpu(settings, small_files)) {
    gpu = parallel::bind_gpu(parts_.world);
  }
  NodeMemory memory;
  memory.ranks = parts_.world.node().size();
  coordinated(parts_.world, [&] {
    for (const auto& [name, size] : base::list_checkpoint_files(path)) {
      memory.stored += base::is_weight_file(name) ? size : 0;
    }
    engine::require_gpu(settings, gpu);
    if (gpu.ranks > 1 && parts_.job().execution.tensor_parallel > 1) {
      throw base::InputError(base::describe("execution.tensor_parallel with several ranks on one GPU",
                                            "NCCL adds up over GPUs of their own", "start one rank per GPU"));
    }
    memory.host = host_memory();
    memory.gpu = gpu.free;
    memory.gpu_ranks = gpu.ranks;
    require_memory(parts_.job(), small_files, memory);
  });
}

void OneJob::read_model() {
  auto& scoring = *parts_.scoring;
  if (scoring.job.needs_model()) {
    if (!is_fake(scoring.job)) {
      check_devices();
      coordinated(parts_.world, [&] { refuse_idle_gpus(scoring.job, scoring.gpu); });
    }
    const auto part = is_fake(scoring.job) ? base::CheckpointPart::small_files : base::CheckpointPart::all_files;
    scoring.files = parallel::read_checkpoint_once(parts_.world, scoring.job.model.path, part);
    coordinated(parts_.world, [&] { scoring.tokenizer.emplace(tokenizer::Tokenizer::from_files(scoring.files)); });
  }
  parts_.gpus = parts_.world.gather_everywhere(scoring.gpu.name);
}

void OneJob::agree_on_settings() {
  const auto& scoring = *parts_.scoring;
  const auto own = scoring.gpu.name.empty() ? engine::device_description(engine_settings(scoring.job), scoring.files)
                                            : scoring.gpu.name;
  auto devices = parts_.world.gather_everywhere(own);
  std::ranges::sort(devices);
  const auto repeats = std::ranges::unique(devices);
  devices.erase(repeats.begin(), repeats.end());
  const auto device = base::join(devices, " + ");
  const auto node = parts_.world.node();
  auto& settings = parts_.settings;
  const auto own_hashes = coordinated(parts_.world, "hash_files", [&] {
    return base::Json(hash_files(scoring.job, scoring.files, {node.rank(), node.size()})).dump();
  });
  FileHashes hashes;
  for (const auto& text : node.gather_everywhere(own_hashes)) {
    hashes.merge(base::parse_json(text, "hashes of a rank").get<FileHashes>());
  }
  coordinated(parts_.world, [&] {
    if (devices.size() > 1 && base::text_from_environment("STEREOSWEEP_MIXED_DEVICES") != "1") {
      throw base::InputError(base::describe("the ranks run on different devices: " + device,
                                            "the last bits of a number would depend on the rank that scored it",
                                            "STEREOSWEEP_MIXED_DEVICES=1 allows it, and the result says so"));
    }
    if (node.rank() == 0) {
      settings = with_software(make_settings(scoring.job, hashes, device), scoring.job, scoring.gpu);
    }
  });
  const auto agreed = parts_.world.broadcast(settings.text, 0);
  coordinated(parts_.world, [&] {
    if (node.rank() == 0 && settings.text != agreed) {
      throw base::InputError(base::describe("this node has another checkpoint or other libraries than rank 0",
                                            base::join(settings_differences(agreed, settings.text), "; ")));
    }
  });
  settings.text = agreed;
}

}  // namespace stereosweep::run
