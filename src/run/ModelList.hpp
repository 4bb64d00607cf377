// What models lie on this machine, and which probes each fits: from small files and the headers of weights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace stereosweep::run {

/// Whether a probe fits a model.
struct ProbeFit {
  std::string probe;
  std::string why_not;  ///< empty: it fits
};

struct ListedModel {
  std::string path;               ///< what model.path takes: a directory, or ORG/NAME with the revision that needs it
  std::string commit;             ///< of a cache's snapshot; empty for a directory
  std::vector<std::string> refs;  ///< branches and tags at that commit
  std::string family;             ///< model_type of config.json, "elmo"; empty: unknown
  std::string head;               ///< "masked", "causal", "none: vectors alone"; empty where nothing can be asked
  std::uint64_t weight_bytes = 0;
  std::vector<ProbeFit> probes;  ///< all that there are, sorted; empty where nothing can be asked
  std::string problem;           ///< why nothing can be asked; empty: something can
};

/// What lies in one directory. Never throws for what its files hold: that is `problem`.
ListedModel look_at_model(const std::filesystem::path& directory);

/// Every snapshot of the Hugging Face cache.
std::vector<ListedModel> list_cached_models();

/// The checkpoint `directory`, or those in its folders. Throws InputError where there is none.
std::vector<ListedModel> list_models_in(const std::filesystem::path& directory);

}  // namespace stereosweep::run
