#include "app/PlanCommand.hpp"

#include <boost/program_options/value_semantic.hpp>

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>

#include "app/CommandLine.hpp"
#include "app/ModelPlan.hpp"
#include "app/PlanTime.hpp"
#include "base/Error.hpp"
#include "base/File.hpp"
#include "config/JobLoader.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/families/Families.hpp"
#include "parallel/GpuBinding.hpp"
#include "probes/ProbeKind.hpp"
#include "run/MemoryCheck.hpp"
#include "run/ModelCheck.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

struct Request {
  std::string file;
  std::vector<std::string> overrides;
  bool shows_prompts = false;
  bool measures_time = false;
  int ranks = 1;
  std::optional<double> gpu_memory;  ///< GiB
  std::optional<std::uint64_t> limit;
};

// Nothing where only help was asked for.
std::optional<Request> parse_arguments(const Arguments& arguments) {
  options::options_description visible(
      "stereosweep plan JOB [key=value ...]: what a job will cost; reads no weights\n"
      "unless --measure is given");
  visible.add_options()("show-prompts", "also print the text of every cell");
  visible.add_options()("measure", "estimate the time: load the model and score some blocks for about 5 s");
  visible.add_options()("ranks", options::value<int>()->default_value(1), "ranks that the run will have");
  visible.add_options()("gpu-memory", options::value<double>(),
                        "GiB of one GPU: plan for GPUs (80 where the job asks for them or this machine has one)");
  visible.add_options()("limit", options::value<std::int64_t>(), "lines per list and cells of --show-prompts");
  const auto line = read_command_line(arguments, "plan", visible, Places::one_and_overrides, "job");
  if (!line) {
    return std::nullopt;
  }
  Request request;
  request.file = line->place;
  request.overrides = line->overrides;
  request.shows_prompts = line->has("show-prompts");
  request.measures_time = line->has("measure");
  request.ranks = line->get<int>("ranks");
  if (request.ranks < 1) {
    throw base::InputError(base::describe("--ranks must be at least 1", "it is " + std::to_string(request.ranks)));
  }
  if (line->has("gpu-memory")) {
    request.gpu_memory = line->get<double>("gpu-memory");
    if (!(*request.gpu_memory > 0 && *request.gpu_memory < 1e6)) {
      throw base::InputError(base::describe("--gpu-memory must lie between 0 and 10^6", "it counts GiB of one GPU"));
    }
  }
  if (line->has("limit")) {
    const auto limit = line->get<std::int64_t>("limit");
    if (limit < 0) {
      throw base::InputError(base::describe("--limit must not be negative", "it is " + std::to_string(limit)));
    }
    request.limit = static_cast<std::uint64_t>(limit);
  }
  return request;
}

bool has_tokenizer(const base::FileSet& files) {
  const auto names = {"tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model"};
  return std::ranges::any_of(names, [&](const char* name) { return files.find(name) != nullptr; });
}

/// Without a tokenizer sampled answers are not counted.
model::Load load_of(const sweep::Job& job, const base::FileSet& files) {
  return has_tokenizer(files) ? run::load_of(job, files, model::read_causal_specification(files))
                              : model::Load{job.execution.batch_tokens, {}};
}

/// One that cannot be used counts: `run` says why.
bool has_gpu() {
  try {
    return parallel::count_gpus() > 0;
  } catch (const base::Error&) {
    return true;
  }
}

/// Of one GPU, where the run is to have some.
std::optional<std::uint64_t> gpu_bytes_for(const sweep::Job& job, const Request& request) {
  constexpr double usual = 80;
  const bool wants_gpu =
      job.execution.device == query::Device::cuda || (job.execution.device == query::Device::automatic && has_gpu());
  if (!request.gpu_memory && !wants_gpu) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(request.gpu_memory.value_or(usual) * 1024 * 1024 * 1024);
}

probes::PlanRequest plan_request(const sweep::Job& job, const Request& request, const base::FileSet& files,
                                 const tokenizer::Tokenizer* tokenizer, std::optional<model::Load> load) {
  probes::PlanRequest result{
      .job = job,
      .files = files,
      .tokenizer = tokenizer,
      .load = load,
      .ranks = request.ranks,
      .prompts = request.shows_prompts ? probes::PlanRequest::Prompts::printed : probes::PlanRequest::Prompts::left_out,
      .limit = request.limit,
      .print_time = {}};
  result.print_time = [result, measures = request.measures_time](std::ostream& out, const probes::Probe& probe) {
    measures ? print_time(out, result, probe) : print_no_time(out);
  };
  return result;
}

void plan_job(const sweep::Job& job, const Request& request) {
  if (!job.needs_model()) {
    probes::kind_of(job).plan(plan_request(job, request, base::FileSet(""), nullptr, {}));
    std::cout << std::flush;
    return;
  }
  const auto files = base::read_checkpoint_files(job.model.path, base::CheckpointPart::small_files);
  std::optional<model::Load> load;
  if (files.find("config.json") != nullptr && model::is_causal(files)) {
    load = load_of(job, files);
    print_model_plan(std::cout, files, job, *load, gpu_bytes_for(job, request));
    if (!has_tokenizer(files)) {
      std::cout << "no tokenizer in " << job.model.path << ": prompts, tokens and blocks are not counted\n"
                << std::flush;
      return;
    }
  }
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  probes::kind_of(job).plan(plan_request(job, request, files, &tokenizer, load));
  std::cout << std::flush;
}

}  // namespace

int plan_command(const Arguments& arguments) {
  const auto request = parse_arguments(arguments);
  if (request) {
    run::ModelCheck models;
    const auto check = [&](const sweep::Job& job) { return models.examine(job).faults; };
    for (const auto& job : config::load_jobs(config::read_job_file(request->file), request->overrides, check)) {
      plan_job(job, *request);
    }
  }
  return static_cast<int>(base::ExitCode::done);
}

}  // namespace stereosweep::app
