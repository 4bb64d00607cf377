#include "run/Sweep.hpp"

#include <algorithm>
#include <map>

#include "base/Bytes.hpp"
#include "base/Error.hpp"
#include "base/File.hpp"
#include "base/Text.hpp"
#include "config/JobDump.hpp"
#include "config/JobLoader.hpp"
#include "model/checkpoint/Safetensors.hpp"
#include "parallel/GpuBinding.hpp"
#include "probes/ProbeKind.hpp"
#include "run/MemoryCheck.hpp"
#include "run/ModelCheck.hpp"
#include "run/RunDirectory.hpp"
#include "run/Settings.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::run {
namespace {

namespace fs = std::filesystem;

/// Where the job would end before its first block: throws what ends it.
class JobCheck {
 public:
  JobCheck(const RunRequest& request, int node_ranks) : request_(request), node_ranks_(node_ranks) {}

  void require_startable(const sweep::Job& job, const fs::path& root) const {
    if (request_.existing != RunRequest::Existing::overwrite) {
      RunDirectory(root).require_same_job(job);
    }
    probes::kind_of(job).check_inputs(job);
    if (job.needs_model()) {
      require_model(job);
    }
  }

 private:
  void require_model(const sweep::Job& job) const {
    const auto files = base::read_checkpoint_files(job.model.path, base::CheckpointPart::all_files);
    const auto tokenizer = tokenizer::Tokenizer::from_files(files);
    probes::kind_of(job).make_probe(job, tokenizer);
    if (is_fake(job)) {
      return;
    }
    require_fitting(job, files);
    if (base::is_elmo(files)) {
      return;
    }
    model::read_stored_tensors(files);  // weights that are not there
    const bool on_gpu = job.execution.device != query::Device::cpu && parallel::count_gpus() > 0;
    if (!on_gpu) {  // what is free on a GPU is known once it is bound
      NodeMemory memory;
      memory.ranks = node_ranks_;
      memory.host = host_memory();
      for (const auto& [name, size] : base::list_checkpoint_files(job.model.path)) {
        memory.stored += base::is_weight_file(name) ? size : 0;
      }
      require_memory(job, files, memory);
    }
  }

  const RunRequest& request_;
  int node_ranks_;
};

fs::path root_of(const RunRequest& request, const sweep::Job& job, std::size_t num_jobs) {
  auto root = request.output.empty() && fs::is_directory(request.job) ? request.job : request.output;
  if (root.empty()) {
    return fs::path("results") / job.name;
  }
  return num_jobs > 1 ? root / job.name : root;
}

/// Equal for jobs whose raw numbers are the same.
std::string numbers_of(const sweep::Job& job) {
  std::string text = config::canonical_raw_dump(job) + job.model.path + '\n';
  if (!job.needs_model()) {
    for (const auto& [kind, path] : probes::kind_of(job).inputs(job)) {
      text += path;
    }
  }
  return text;
}

/// Jobs that would score what an earlier one scores.
void find_siblings(const std::vector<sweep::Job>& jobs, std::vector<PlannedJob>& planned) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto [known, is_new] = first.emplace(numbers_of(jobs[i]), i);
    if (!is_new) {
      planned[i].sibling = planned[known->second].root;
      planned[i].reason =
          jobs[i].seed == jobs[known->second].seed
              ? "nothing that differs changes a raw number"
              : "the probe '" + jobs[i].probe_name() + "' draws nothing here, so the seed changes no number";
    }
  }
}

void check_all(const RunRequest& request, int node_ranks, const std::vector<sweep::Job>& jobs,
               std::vector<PlannedJob>& planned) {
  const JobCheck check(request, node_ranks);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    try {
      check.require_startable(jobs[i], planned[i].root);
    } catch (const base::Error& error) {
      planned[i].problem = error.what();
    }
  }
  const auto is_hopeless = [](const PlannedJob& job) { return !job.problem.empty(); };
  if (std::ranges::all_of(planned, is_hopeless)) {
    base::Problems problems;
    for (const auto& job : planned) {
      problems.add({}, job.root + ": " + job.problem, "");
    }
    problems.raise_if_any("no job of the sweep can run:");
  }
}

}  // namespace

PlannedJobs plan_jobs(const RunRequest& request, int node_ranks) {
  const auto file = fs::is_directory(request.job) ? request.job / "job.resolved.yaml" : request.job;
  const auto source = config::read_job_file(file);
  const auto jobs = config::load_jobs(source, request.overrides);
  PlannedJobs planned;
  planned.text = source.text;
  for (const auto& job : jobs) {
    planned.jobs.push_back({config::canonical_dump(job), root_of(request, job, jobs.size()).string(), "", "", ""});
  }
  if (jobs.size() > 1) {
    find_siblings(jobs, planned.jobs);
    check_all(request, node_ranks, jobs, planned.jobs);
  }
  return planned;
}

std::vector<std::byte> encode(const PlannedJobs& planned) {
  base::ByteWriter out;
  out.text(planned.text);
  for (const auto& job : planned.jobs) {
    out.text(job.dump).text(job.root).text(job.problem).text(job.sibling).text(job.reason);
  }
  return out.take();
}

PlannedJobs decode_jobs(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  PlannedJobs planned;
  planned.text = in.text();
  while (!in.done()) {
    auto& job = planned.jobs.emplace_back();
    for (auto* field : {&job.dump, &job.root, &job.problem, &job.sibling, &job.reason}) {
      *field = in.text();
    }
  }
  return planned;
}

}  // namespace stereosweep::run
