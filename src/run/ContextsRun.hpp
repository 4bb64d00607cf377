// A contexts job on all ranks: contexts are collected, stage `vectors` asks the model, the store is built, stage
// `effects` computes samples from it; results are exported and what is not to be kept is removed.
#pragma once

#include <memory>
#include <optional>

#include "probe/EffectsProbe.hpp"
#include "probe/VectorsProbe.hpp"
#include "run/ContextSample.hpp"
#include "run/StageRun.hpp"
#include "run/WordsFile.hpp"

namespace stereosweep::run {

inline constexpr const char* vectors_stage = "vectors";
inline constexpr const char* effects_stage = "effects";

class ContextsRun {
 public:
  /// `job` is borrowed.
  explicit ContextsRun(JobParts& job) : job_(job) {}
  /// Collective; see run_jobs.
  base::ExitCode run();

 private:
  void open_vectors();
  void find_words();
  void open_effects(std::shared_ptr<const probe::VectorStore> store);
  base::ExitCode score_vectors();
  base::ExitCode score_effects();
  void build_store();
  bool store_is_intact() const;
  bool vectors_file_is_wanted() const;
  void finish();
  void remove_vectors() const;

  JobParts& job_;
  std::shared_ptr<const probe::VectorsProbe> vectors_probe_;
  std::optional<StageRun> vectors_;
  std::optional<StageRun> effects_;
  std::optional<WordsFile> words_;  ///< known once stage `vectors` was complete
  bool scored_ = false;             ///< this start has added blocks to a journal
};

/// The words' settings of stage `effects`: its numbers depend on the vectors behind them.
RunSettings effects_settings(const RunSettings& settings, const WordsFile& words);

}  // namespace stereosweep::run
