#include <boost/program_options/value_semantic.hpp>

#include <iostream>
#include <memory>
#include <vector>

#include "app/CommandLine.hpp"
#include "app/ResultPath.hpp"
#include "base/Error.hpp"
#include "base/File.hpp"
#include "base/Log.hpp"
#include "config/JobLoader.hpp"
#include "findings/Conclusions.hpp"
#include "parallel/Communicator.hpp"
#include "parallel/MpiSession.hpp"
#include "probes/ProbeKind.hpp"
#include "results/Reader.hpp"
#include "run/Signals.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;
constexpr const char* resolved_name = "job.resolved.yaml";

/// Only what cannot change a raw number may be changed here.
void require_statistics_keys(const std::vector<std::string>& overrides) {
  for (const auto& text : overrides) {
    base::refuse_if(!text.starts_with("statistics.") || text.find('=') == std::string::npos,
                    "'" + text + "' cannot be set here",
                    "stats takes statistics.KEY=VALUE only; all else belongs to the run");
  }
}

/// The job beside the file, else the copy inside it.
sweep::Job job_of(const results::ResultFile& file, const std::vector<std::string>& overrides) {
  const auto beside = file.path().parent_path() / resolved_name;
  if (std::filesystem::exists(beside)) {
    return overrides.empty() ? config::load_resolved(base::read_file(beside), beside.string())
                             : config::load_jobs(beside, overrides).front();
  }
  const auto inside = file.document("job_resolved");
  base::refuse_if(!inside, "'" + file.path().string() + "' does not say how to compute statistics",
                  std::string("no ") + resolved_name + " beside it, no job_resolved in it");
  base::refuse_if(!overrides.empty(), "no key can be set for '" + file.path().string() + "'",
                  std::string("no ") + resolved_name + " lies beside it", "name the run directory");
  return config::load_resolved(*inside, file.path().string() + ":/provenance/job_resolved");
}

/// As --output says, else "association.h5" -> "association.stats.h5", in the same directory.
std::filesystem::path target_of(const CommandLine& line, const std::filesystem::path& file) {
  if (!line.has("output")) {
    return file.parent_path() / (file.stem().string() + ".stats.h5");
  }
  const std::filesystem::path target = line.get<std::string>("output");
  std::error_code ignored;
  base::refuse_if(std::filesystem::equivalent(target, file, ignored),
                  "--output " + target.string() + " is the result that is read", "its raw numbers would be lost",
                  "give another name");
  return target;
}

/// What both kinds of ranks need.
struct Source {
  std::unique_ptr<const results::ResultFile> file;
  sweep::Job job;
  std::size_t top = 0;
};

Source open_source(const CommandLine& line) {
  const auto path = find_result(line.place);
  require_statistics_keys(line.overrides);
  Source source{std::make_unique<const results::ResultFile>(path), {}, line.number("top", 1)};
  base::refuse_if(is_stage_file(*source.file), "no statistics of '" + path.string() + "'",
                  "it holds an earlier stage of its run", "name the run directory");
  source.job = job_of(*source.file, line.overrides);
  return source;
}

/// Collective.
base::ExitCode compute(const CommandLine& line, const parallel::Communicator& world) {
  const auto source =
      world.size() == 1 ? open_source(line) : parallel::coordinated(world, [&] { return open_source(line); });
  const auto& kind = probes::kind_of(source.job);
  findings::Conclusions conclusions;
  results::StatisticsTarget target = target_of(line, source.file->path());
  const auto comparison = kind.comparison(source.job);
  if (comparison.asks()) {
    target.finish = [&](results::StatisticsFile& file) {
      conclusions = findings::conclude(findings::scores_of(file), comparison, source.job.seed);
      findings::write_conclusions(file.layout(), conclusions, comparison);
    };
  }
  const probes::StatsRequest request{.file = *source.file,
                                     .job = source.job,
                                     .target = target,
                                     .top = source.top,
                                     .detail = line.has("all") ? probes::Detail::everything : probes::Detail::main,
                                     .world = world};
  if (world.rank() > 0) {
    kind.assist(request);
    return base::ExitCode::done;
  }
  if (!source.file->complete()) {
    std::cout << "NOT complete: this run has unscored blocks.\n\n";
  }
  kind.stats(request);
  std::cout << findings::conclusions_text(conclusions, comparison, source.top) << "\nwritten: " << target.path.string()
            << '\n';
  return base::ExitCode::done;
}

base::ExitCode execute_stats(const CommandLine& line) {
  const parallel::MpiSession session;
  const auto& world = session.world();
  base::set_log_rank(world.size() > 1 ? world.rank() : -1);
  const auto step = [&] { return compute(line, world); };
  return world.size() == 1 ? step() : parallel::end_on_all_ranks(world, step);
}

void add_stats_options(options::options_description_easy_init add) {
  add("top", options::value<std::int64_t>()->default_value(5),
      "how many rows of each long table; the strongest associations per measure");
  add("all", "of a contexts result: every adjustment, the random-effects model and the p of its z, too");
  add("output", options::value<std::string>(), "where to write instead of PROBE.stats.h5 beside the result");
}

}  // namespace

const Command stats_command{
    "stats",
    "scores, averages and agreement with human ratings",
    "stereosweep stats DIR_OR_FILE [statistics.KEY=VALUE ...]: scores, averages, disparities, agreement;\n"
    "writes PROBE.stats.h5 beside the result. Under mpirun, ranks share the exact permutation tests of a\n"
    "contexts result",
    Places::one_and_overrides,
    "run directory",
    add_stats_options,
    execute_stats};

}  // namespace stereosweep::app
