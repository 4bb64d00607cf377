#include <boost/program_options/value_semantic.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "app/CommandLine.hpp"
#include "app/ModelPlan.hpp"
#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/File.hpp"
#include "base/files/HubCache.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"
#include "config/yaml/Fields.hpp"
#include "findings/decisions/Decisions.hpp"
#include "findings/decisions/PlannedRounds.hpp"
#include "findings/decisions/SparseDesign.hpp"
#include "findings/power/Power.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/families/Families.hpp"
#include "parallel/GpuBinding.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"
#include "results/ScoreTable.hpp"
#include "results/tables/TerminalTable.hpp"
#include "run/Settings.hpp"
#include "run/checks/MemoryCheck.hpp"
#include "run/checks/ModelCheck.hpp"
#include "run/ranks/Progress.hpp"
#include "run/ranks/Scorer.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::app {
namespace {

// `plan --power`: how many templates and rephrasings the contrasts of a job need.

struct PowerRequest {
  findings::PowerGoal goal;
  std::optional<std::filesystem::path> pilot;  ///< a run directory or result file, as `stats` takes it
};

/// Reads `word` ("effect=0.2") and takes what else belongs to it (pilot=..., chance=..., level=...) out of the
/// `overrides`. Throws InputError listing every fault.
PowerRequest take_power_request(const std::string& word, std::vector<std::string>& overrides) {
  const std::vector<std::string> names = {"effect", "difference", "pilot", "chance", "level"};
  base::Problems problems;
  auto given = config::Node::map();
  const auto take = [&](const std::string& text) {
    const auto name = text.substr(0, text.find('='));
    problems.add_if(given.find(name) != nullptr, given.place("--power." + name), "'" + name + "' is given twice", "");
    if (name == text) {
      problems.add(given.place("--power"), "'" + text + "' has no value", "NAME=VALUE is expected");
    } else {
      given.at(name) = config::Node::plain(text.substr(name.size() + 1));
    }
  };
  take(word);
  std::erase_if(overrides, [&](const std::string& text) {
    const auto name = text.substr(0, text.find('='));
    const bool is_ours = name != text && base::contains(names, name);
    if (is_ours) {
      take(text);
    }
    return is_ours;
  });
  config::Fields words(given, "--power", problems);
  PowerRequest request;
  auto& goal = request.goal;
  std::string pilot;
  words.number("effect", goal.size, 0.001, 1000);
  words.number("difference", goal.size, 1e-12, 1e12);
  words.line("pilot", pilot);
  words.number("chance", goal.chance, 0.01, 0.999);
  words.number("level", goal.level, 1e-9, 0.5);
  words.finish();
  const bool has_effect = given.find("effect") != nullptr;
  const bool has_difference = given.find("difference") != nullptr;
  goal.unit = has_difference ? findings::PowerGoal::Unit::score : findings::PowerGoal::Unit::deviations;
  problems.add_if(has_effect == has_difference, given.place("--power"),
                  has_effect ? "both an effect and a difference are given" : "no effect is given",
                  "the chance depends on one true difference",
                  "Give effect=0.5 (in standard deviations of templates' differences) or difference=0.1 (in the "
                  "score's unit, with pilot=RUN_DIRECTORY).");
  problems.add_if(has_difference && given.find("pilot") == nullptr, given.place("--power"),
                  "a difference in the score's unit needs a pilot", "without one its variance is not known",
                  "Give pilot=RUN_DIRECTORY, or effect=0.5 in standard deviations.");
  problems.raise_if_any("the power cannot be computed");
  if (!pilot.empty()) {
    request.pilot = pilot;
  }
  return request;
}

/// Prints it for jobs that differ in what they ask. Throws InputError where the pilot has no current statistics, or
/// lacks what a contrast names, or the job asks for no contrast.
void print_power(std::span<const sweep::Job> jobs, const PowerRequest& request, std::size_t top) {
  if (!request.pilot) {
    std::cout << findings::power_text(request.goal);
    return;
  }
  std::optional<sweep::Comparison> last;
  for (const auto& job : jobs) {
    const auto& kind = probes::kind_of(job);
    const auto comparison = kind.comparison(job);
    if (last == comparison) {
      continue;  // of a sweep: the same again
    }
    base::refuse_if(comparison.contrasts.empty(), "'" + job.name + "' asks for no contrast",
                    "power is that of a contrast's p",
                    "Add statistics.contrasts to the job, or 'statistics.contrasts=[{name: ..., left: {...}}]' here.");
    const auto file = kind.open_pilot(*request.pilot);
    const auto contrasts = findings::spreads_of(findings::scores_of(file), comparison);
    std::cout << (last ? "\n" : "") << findings::power_text(contrasts, request.goal, top)
              << results::wrapped("the job: " + kind.summary(job) + '\n', 2);
    last = comparison;
  }
}

namespace options = boost::program_options;

/// Without a tokenizer sampled answers are not counted.
model::Load load_of(const sweep::Job& job, const base::FileSet& files) {
  return run::has_tokenizer(files) ? run::load_of(job, files, model::read_causal_specification(files))
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
std::optional<std::uint64_t> gpu_bytes_for(const sweep::Job& job, const CommandLine& line) {
  constexpr double usual = 80;
  const bool is_given = line.has("gpu-memory");
  const bool wants_gpu =
      job.execution.device == query::Device::cuda || (job.execution.device == query::Device::automatic && has_gpu());
  if (!is_given && !wants_gpu) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>((is_given ? line.get<double>("gpu-memory") : usual) * 1024 * 1024 * 1024);
}

constexpr double budget_s = 5;
constexpr std::size_t most_blocks = 1000;

struct Measurement {
  std::size_t blocks = 0;
  std::uint64_t contexts = 0;
  double seconds = 0;
};

std::unique_ptr<query::Engine> load_engine(const probes::PlanRequest& request) {
  const auto settings = run::engine_settings(request.job);
  if (run::is_fake(request.job)) {
    return engine::make_engine(settings, request.files, *request.tokenizer);
  }
  const auto place = base::checkpoint_place(request.job.model.location(), request.job.model.adapter);
  run::require_memory(request.job, request.files, run::node_memory(1, place));
  const auto files = base::read_checkpoint_files(place, base::CheckpointPart::all_files);
  return engine::make_engine(settings, files, *request.tokenizer);
}

/// Blocks in steps of the golden section, so that any number of first ones lies spread over all.
Measurement measure(const probes::Probe& probe, query::Engine& engine) {
  const auto& blocks = probe.blocks();
  Measurement measured;
  std::set<std::uint64_t> seen;
  for (std::size_t step = 0; step < most_blocks && measured.seconds < budget_s; ++step) {
    const double fraction = std::fmod(0.5 + static_cast<double>(step) * 0.6180339887498949, 1.0);
    const auto index = static_cast<std::uint64_t>(fraction * static_cast<double>(blocks.num_blocks()));
    if (!seen.insert(index).second) {
      continue;
    }
    const auto scored = run::score_block(probe, engine, blocks.block(index));
    if (!scored.failure.empty()) {
      throw base::Error(scored.failure);
    }
    if (step == 0 && scored.seconds < budget_s && blocks.num_blocks() > 1) {
      seen.clear();  // the first block also warms up: it is scored again, or left out
      continue;
    }
    ++measured.blocks;
    measured.contexts += scored.id.num_contexts;
    measured.seconds += scored.seconds;
  }
  return measured;
}

/// The seconds per context of these blocks, carried to the whole. What is printed; nothing: it cannot be measured.
std::optional<double> print_time(std::ostream& out, const probes::PlanRequest& request, const probes::Probe& probe) {
  auto& line = probes::plan_line(out, "time");
  if (request.job.execution.tensor_parallel > 1) {
    line << "cannot be measured by one process: execution.tensor_parallel is " << request.job.execution.tensor_parallel
         << '\n';
    return std::nullopt;
  }
  const auto engine = load_engine(request);
  const auto measured = measure(probe, *engine);
  const double whole = measured.seconds / static_cast<double>(std::max<std::uint64_t>(1, measured.contexts)) *
                       static_cast<double>(probe.blocks().num_contexts());
  line << "about " << run::hours(whole / request.ranks) << " (h:mm:ss) on "
       << base::counted(static_cast<std::uint64_t>(request.ranks), "rank")
       << " as fast as this process, loading left out\n";
  probes::plan_line(out, "") << "an estimate: " << base::with_thousands(measured.blocks) << " of "
                             << base::counted(probe.blocks().num_blocks(), "block") << " took "
                             << probes::format_number("%.1f", measured.seconds) << " s here\n";
  return whole / request.ranks;
}

/// The seconds that it is said to take.
std::optional<double> plan_job(const sweep::Job& job, const CommandLine& line) {
  base::FileSet files("");
  std::optional<model::Load> load;
  std::optional<tokenizer::Tokenizer> tokenizer;
  if (job.needs_model() && !job.model.server) {
    files = base::read_checkpoint_files(base::checkpoint_place(job.model.location(), job.model.adapter),
                                        base::CheckpointPart::small_files);
    if (files.find("config.json") != nullptr && model::is_causal(files)) {
      load = load_of(job, files);
      print_model_plan(std::cout, files, job, *load, gpu_bytes_for(job, line));
      if (!run::has_tokenizer(files)) {
        std::cout << "no tokenizer in " << job.model.path << ": prompts, tokens and blocks are not counted\n"
                  << std::flush;
        return std::nullopt;
      }
    }
    tokenizer.emplace(tokenizer::Tokenizer::from_files(files));
    tokenizer->log_warnings();
    const auto advice = engine::slow_dtype(job.model.dtype, 0);
    if (!advice.empty() && !run::is_fake(job) && !base::is_elmo(files) && gpu_bytes_for(job, line)) {
      probes::plan_line(std::cout, "dtype") << advice << '\n';
    }
  }
  probes::PlanRequest request{.job = job,
                              .files = files,
                              .tokenizer = tokenizer ? &*tokenizer : nullptr,
                              .load = load,
                              .ranks = static_cast<int>(line.number("ranks", 1, 10'000'000)),
                              .prompts = line.has("show-prompts") ? probes::PlanRequest::Prompts::printed
                                                                  : probes::PlanRequest::Prompts::left_out,
                              .limit = {},
                              .print_time = {}};
  if (line.has("limit")) {
    request.limit = line.number("limit", 0);
  }
  std::optional<double> seconds;
  request.print_time = [&](std::ostream& out, const probes::Probe& probe) {
    if (line.has("measure")) {
      seconds = print_time(out, request, probe);
    } else {
      probes::plan_line(out, "time") << "not estimated: with --measure some blocks are scored here, for about "
                                     << budget_s << " s\n";
    }
  };
  if (job.model.server) {
    probes::print_server_plan(std::cout, request);
  } else {
    probes::kind_of(job).plan(request);
  }
  std::cout << std::flush;
  return seconds;
}

/// What a job that asks in rounds is expected to need of them.
void print_rounds(const sweep::Job& job, std::optional<double> seconds) {
  const auto& kind = probes::kind_of(job);
  const auto comparison = kind.asked(job);
  const auto axes = kind.score_axes(job);
  const auto planned =
      comparison.decide ? findings::plan_rounds(axes, comparison, job.seed, kind.left_out(job)) : std::nullopt;
  if (planned) {
    std::ostringstream text;
    probes::plan_line(text, "decide") << findings::rounds_text(*planned, *comparison.decide, seconds);
    std::cout << results::wrapped(text.str(), 2);
  }
  for (const auto& doubt : findings::doubts_of_decisions(axes, comparison)) {
    std::cout << results::wrapped("WARNING " + doubt, 2) << '\n';
  }
}

void add_plan_options(options::options_description_easy_init add) {
  add("show-prompts", "also print the text of every cell");
  add("measure", "estimate the time: load the model and score some blocks for about 5 s");
  add("ranks", options::value<std::int64_t>()->default_value(1), "ranks that the run will have");
  add("gpu-memory", options::value<double>(),
      "GiB of one GPU: plan for GPUs (80 where the job asks for them or this machine has one)");
  add("limit", options::value<std::int64_t>(), "lines per list and cells of --show-prompts");
  add("power", options::value<std::string>(),
      "effect=D or difference=D [pilot=RUN_DIRECTORY] [chance=0.8] [level=0.05]: instead of the costs, how many "
      "templates and rephrasings the job's contrasts need");
}

/// Reads no model.
void plan_power(const CommandLine& line) {
  constexpr std::uint64_t usual_rows = 10;
  auto overrides = line.overrides;
  const auto request = take_power_request(line.get<std::string>("power"), overrides);
  const auto jobs = config::load_jobs(config::read_job_file(line.place), overrides);
  print_power(jobs, request, line.has("limit") ? line.number("limit", 1) : usual_rows);
}

base::ExitCode execute_plan(const CommandLine& line) {
  base::refuse_if(
      line.has("gpu-memory") && !(line.get<double>("gpu-memory") > 0 && line.get<double>("gpu-memory") < 1e6),
      "--gpu-memory must lie between 0 and 10^6", "it counts GiB of one GPU");
  if (line.has("power")) {
    plan_power(line);
    return base::ExitCode::done;
  }
  run::ModelCheck models;
  const auto check = [&](const sweep::Job& job) { return models.examine(job).faults; };
  for (const auto& job : config::load_jobs(config::read_job_file(line.place), line.overrides, check)) {
    const auto seconds = plan_job(job, line);
    if (const auto design = job.design()) {
      const auto axes = probes::kind_of(job).score_axes(job);
      probes::plan_line(std::cout, "design")
          << findings::design_text(axes, *design) << "; blocks, tokens, time and output are those of these\n";
    }
    print_rounds(job, seconds);
  }
  return base::ExitCode::done;
}

}  // namespace

const Command plan_command{"plan",
                           "what a job will cost; how its words are tokenized",
                           "stereosweep plan JOB [key=value ...]: what a job will cost; reads no weights\n"
                           "unless --measure is given. With --power: how many templates its contrasts need",
                           execute_plan,
                           Places::one_and_overrides,
                           "job",
                           add_plan_options};

}  // namespace stereosweep::app
