// A stage of a job: blocks of one kind in journals of their own. A job has one stage, or several of which each starts
// from what the one before has left.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/files/File.hpp"
#include "base/files/PendingFile.hpp"
#include "parallel/Communicator.hpp"
#include "probes/Probe.hpp"
#include "results/Journal.hpp"
#include "sweep/Job.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::probes {

/// What a stage may use of its run; everything is borrowed. The functions are for rank zero.
struct StageRequest {
  const sweep::Job& job;
  const parallel::Communicator& world;
  std::filesystem::path directory;                         ///< of the run
  const base::FileSet& files;                              ///< of the model
  const tokenizer::Tokenizer* tokenizer;                   ///< null where the job reads no model
  std::function<void(const std::string&)> show_step = {};  ///< status.json: what is done before the first block
  std::function<void()> check_lease = {};                  ///< throws where the directory belongs to another run by now
  std::function<void()> keep_earlier_end = {};  ///< a refusal that follows says nothing about the run that lies here
  bool leads() const { return world.rank() == 0; }
};

/// Journals whose blocks are all there, for what is made of them.
struct FinishedStage {
  const results::JournalStore& journal;
  std::string settings;  ///< of the heads of its journals
};

/// The file that a stage is exported to.
struct StageFile {
  std::string name;  ///< in the run directory: "association.h5"
  std::string kind;  ///< behind "stereosweep/" in the attribute `schema`
  /// half: float32 numbers are rounded to float16's 11 significant bits.
  enum class Singles { whole, half } singles = Singles::whole;
  std::vector<std::pair<std::string, std::string>> attributes = {};  ///< further ones
  base::PendingFile::Readers readers = base::PendingFile::Readers::usual;
};

class Stage {
 public:
  using Bytes = std::vector<std::byte>;
  enum class Asks { model, nothing };

  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;

  /// Of the folder of its journals; "" where the job has one stage.
  virtual std::string name() const { return ""; }
  /// `nothing`: blocks are computed from what the stage before has left.
  virtual Asks asks() const { return Asks::model; }
  /// Collective, before its journals are read. `input`: what the stage before came to (`finish`). The probe owns or
  /// shares what it needs, except for what `request` holds. Throws on all ranks together (parallel::coordinated).
  virtual std::shared_ptr<const Probe> open(const StageRequest& request, std::span<const std::byte> input) = 0;
  /// The same from what lies in a run directory, without a run; null where the run has not come to this stage. Only
  /// `job`, `directory`, `files` and `tokenizer` of the request count.
  virtual std::shared_ptr<const Probe> reopen(const StageRequest& request) = 0;
  /// What heads of its journals hold beside the job's settings: its input. Known once it is open.
  virtual std::map<std::string, std::string> settings() const { return {}; }
  /// What the stages before have cost. Known once it is open.
  virtual query::EngineCounts cost_before() const { return {}; }
  /// Rank zero: the journals that lie here are of this stage.
  virtual void journals_agree(const StageRequest& /*request*/) {}
  /// Collective, before the first block is scored: the probe that scores (one that has opened large files).
  virtual std::shared_ptr<const Probe> prepare(const StageRequest& /*request*/) { return nullptr; }

  // What a stage with a successor leaves for it; rank zero.
  /// What an earlier start came to; nothing: it did not, or with other settings.
  virtual std::optional<Bytes> recall(const StageRequest& /*request*/, const std::string& /*settings*/) {
    return std::nullopt;
  }
  /// Whether all that `finish` has written is still there, as it was.
  virtual bool is_intact(const StageRequest& /*request*/) { return true; }
  /// Throws where it was finished before and came to something else.
  virtual Bytes finish(const StageRequest& /*request*/, const FinishedStage& /*finished*/) { return {}; }

  /// What a run writes at its end; nothing: the stage is not exported. Unless overridden: the result.
  virtual std::optional<StageFile> file(const sweep::Job& job) const {
    return StageFile{job.probe_name() + ".h5", job.probe_name()};
  }
  /// What the command `export` writes.
  virtual std::optional<StageFile> file_on_request(const sweep::Job& job) const { return file(job); }
  /// Rank zero, after the export: lines for the log.
  virtual void report() const {}
  /// Rank zero, at the end of the run: removes what is not to be kept.
  virtual void clean_up(const StageRequest& /*request*/) {}
};

}  // namespace stereosweep::probes
