// The model of a job on all ranks: its files, what its numbers depend on, and the engine that asks it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "parallel/Communicator.hpp"
#include "parallel/GpuBinding.hpp"
#include "parallel/NodeFiles.hpp"
#include "parallel/TensorGroup.hpp"
#include "query/Engine.hpp"
#include "results/Journal.hpp"
#include "run/Settings.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::run {

/// What the scoring thread uses. Shared with it, because a thread that is given up outlives everything else.
struct ScoringParts {
  base::FileSet files{""};
  std::optional<tokenizer::Tokenizer> tokenizer;  ///< none where the job needs no model
  sweep::Job job;
  parallel::GpuBinding gpu;
};

/// What jobs of a sweep that read the same model have in common: its files, read once, and their hashes. Adapters are
/// no part of it.
struct KeptModel {
  std::string location;  ///< as the jobs name it; empty: nothing is kept
  parallel::WeightPlace place = parallel::WeightPlace::files;
  parallel::Checkpoint checkpoint{base::FileSet(""), {}};
  FileHashes hashes;                ///< empty: not yet
  bool is_for_a_later_job = false;  ///< which reads the same model
};

/// A run is told what would be faster, and refused where GPUs that are paid for would stay idle; a verification takes
/// the machine as it is.
enum class ModelUse { run, verification };

/// Collective: reads the model that the job of `parts` names, unless `kept` has it, and all else in there. From the
/// small files alone, before weights are read, what cannot run here or cannot fit is refused. Returns what the numbers
/// depend on, the same on all ranks. Throws SharedError.
RunSettings read_model(ScoringParts& parts, KeptModel& kept, const parallel::Communicator& world, ModelUse use);

/// On the thread that asks it. `answers`: head of the journal in which a run keeps the answers of a server; nothing:
/// the server is not asked again. `group`: null where one rank holds the model. Throws InputError for a model whose
/// every answer would be an error.
std::unique_ptr<query::Engine> make_engine(const ScoringParts& parts, const std::filesystem::path& run_directory,
                                           const std::optional<results::JournalHeader>& answers,
                                           const std::shared_ptr<parallel::TensorGroup>& group);

}  // namespace stereosweep::run
