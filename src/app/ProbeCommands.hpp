// What `validate`, `plan`, `show` and `stats` do for one kind of probe: one row of functions per kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/File.hpp"
#include "domain/Job.hpp"
#include "model/CausalSize.hpp"
#include "parallel/Communicator.hpp"
#include "results/Reader.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::app {

/// What `plan` is asked; borrowed.
struct PlanRequest {
  const domain::Job& job;
  const base::FileSet& files;  ///< the checkpoint's small files
  const tokenizer::Tokenizer& tokenizer;
  std::optional<model::Load> load;  ///< of a causal model
  int ranks = 1;
  bool shows_prompts = false;
  bool measures_time = false;
  std::optional<std::uint64_t> limit;  ///< lines per list, cells of the prompts
};

/// What `stats` is asked; borrowed.
struct StatsRequest {
  const results::ResultFile& file;
  const domain::Job& job;
  std::filesystem::path target;
  std::size_t top = 0;
  bool shows_all = false;               ///< what only an expert asks for, too
  const parallel::Communicator& world;  ///< one rank, unless a launcher started more
};

/// What `show` prints of the scores.
enum class Detail { status_only, everything };

struct ProbeCommands {
  std::string_view probe;
  /// One line: the sizes of the job's axes.
  std::string (*summary)(const domain::Job& job);
  void (*plan)(const PlanRequest& request);
  /// After head, axes and cubes.
  void (*show)(const results::ResultFile& file, Detail detail, std::size_t top);
  /// Writes `target` and prints tables; rank zero.
  void (*stats)(const StatsRequest& request);
  /// What the other ranks do meanwhile; null: nothing.
  void (*assist)(const StatsRequest& request) = nullptr;
};

/// Throws InputError where no probe has the name.
const ProbeCommands& commands_of(std::string_view probe);

/// The probe that a result file names; "" where it names none.
std::string probe_of(const results::ResultFile& file);

/// Whether the file holds a stage before the last ("contexts.vectors"): numbers that nothing is derived from directly.
bool is_stage_file(const results::ResultFile& file);

/// Contexts that `plan` reads one by one; a larger product is sampled, so that 10^9 cells answer within seconds.
constexpr std::uint64_t max_contexts_planned = 20'000;

}  // namespace stereosweep::app
