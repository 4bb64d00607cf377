// Whether a job's model can do what the job asks of it: seen from its small files and the headers of its weights.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files/File.hpp"
#include "sweep/Job.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::run {

/// Throws InputError where the checkpoint is not what the job asks of it. Weights may be missing.
void require_fitting(const sweep::Job& job, const base::FileSet& files);

/// Throws InputError where the probe asks for masks and a text with the tokenizer's mask token does not give its id.
void require_mask(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer);

/// Whether the files hold a tokenizer of some kind.
bool has_tokenizer(const base::FileSet& files);

struct ModelReport {
  std::vector<std::string> faults;    ///< a run would end with one of them
  std::vector<std::string> warnings;  ///< of its tokenizer
  std::vector<std::string> notes;     ///< what is not on this machine, and a run will need
};

/// Reports each model once: the jobs of a sweep share theirs.
class ModelCheck {
 public:
  /// A directory that is not here, or that holds no weights, is a note: jobs are written on other machines than they
  /// run on.
  const ModelReport& examine(const sweep::Job& job);

 private:
  std::map<std::string, ModelReport> known_;
};

}  // namespace stereosweep::run
