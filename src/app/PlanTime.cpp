#include "app/PlanTime.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <ostream>
#include <set>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "probes/PlanText.hpp"
#include "run/MemoryCheck.hpp"
#include "run/Progress.hpp"
#include "run/Scorer.hpp"
#include "run/Settings.hpp"
#include "sweep/BlockSample.hpp"

namespace stereosweep::app {
namespace {

constexpr double budget_s = 5;
constexpr std::size_t most_blocks = 1000;

struct Measurement {
  std::size_t blocks = 0;
  std::uint64_t contexts = 0;
  double seconds = 0;
};

void require_memory_here(const sweep::Job& job, const base::FileSet& small_files) {
  run::NodeMemory memory;
  memory.host = run::host_memory();
  run::require_memory(job, small_files, memory);
}

std::unique_ptr<query::Engine> load_engine(const probes::PlanRequest& request) {
  const auto settings = run::engine_settings(request.job);
  if (run::is_fake(request.job)) {
    return engine::make_engine(settings, request.files, *request.tokenizer);
  }
  require_memory_here(request.job, request.files);
  const auto files = base::read_checkpoint_files(request.job.model.path, base::CheckpointPart::all_files);
  return engine::make_engine(settings, files, *request.tokenizer);
}

/// Blocks in steps of the golden section, so that any number of first ones lies spread over all.
Measurement measure(const probes::Probe& probe, query::Engine& engine) {
  const auto& blocks = probe.blocks();
  // borrowed: `probe` outlives this
  const run::ScorerParts parts{std::shared_ptr<const probes::Probe>(std::shared_ptr<void>(), &probe), {}, {}, {}, {}};
  run::InWork in_work;
  Measurement measured;
  std::set<std::uint64_t> seen;
  for (std::size_t step = 0; step < most_blocks && measured.seconds < budget_s; ++step) {
    const double fraction = std::fmod(0.5 + static_cast<double>(step) * 0.6180339887498949, 1.0);
    const auto index = static_cast<std::uint64_t>(fraction * static_cast<double>(blocks.num_blocks()));
    if (!seen.insert(index).second) {
      continue;
    }
    const auto scored = run::score_block(parts, &engine, blocks.block(index), in_work);
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

}  // namespace

void print_no_time(std::ostream& out) {
  probes::plan_line(out, "time") << "not estimated: with --measure some blocks are scored here, for about " << budget_s
                                 << " s\n";
}

void print_time(std::ostream& out, const probes::PlanRequest& request, const probes::Probe& probe) {
  auto& line = probes::plan_line(out, "time");
  if (request.job.execution.tensor_parallel > 1) {
    line << "cannot be measured by one process: execution.tensor_parallel is " << request.job.execution.tensor_parallel
         << '\n';
    return;
  }
  const auto engine = load_engine(request);
  const auto measured = measure(probe, *engine);
  const double whole = measured.seconds / static_cast<double>(std::max<std::uint64_t>(1, measured.contexts)) *
                       static_cast<double>(probe.blocks().product().num_contexts());
  line << "about " << run::hours(whole / request.ranks) << " (h:mm:ss) on "
       << base::counted(static_cast<std::uint64_t>(request.ranks), "rank")
       << " as fast as this process, loading left out\n";
  probes::plan_line(out, "") << "an estimate: " << base::with_thousands(measured.blocks) << " of "
                             << base::counted(probe.blocks().num_blocks(), "block") << " took "
                             << probes::format_number("%.1f", measured.seconds) << " s here\n";
}

}  // namespace stereosweep::app
