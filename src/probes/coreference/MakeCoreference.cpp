#include "base/Error.hpp"
#include "probes/coreference/Coreference.hpp"
#include "probes/coreference/CoreferenceProbe.hpp"

namespace stereosweep::probes::coreference {

std::unique_ptr<Probe> make_coreference(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) {
  const auto& settings = job.settings<Coreference>();
  base::Problems problems;
  const auto check = [&](bool is_empty, const char* key, const char* what) {
    if (is_empty) {
      problems.add({.file = "", .line = 0, .key = key}, std::string("no ") + what, "the product would be empty");
    }
  };
  check(settings.sentences.empty(), "axes.sentences", "sentence");
  check(settings.questions.empty(), "axes.questions", "question");
  check(list_conditions(settings).empty(), "axes.augmentations",
        "augmentation that has a marker (aug3a and aug3b need a privileged and a disadvantaged one of an attribute)");
  problems.raise_if_any("the job cannot be probed");
  return std::make_unique<CoreferenceProbe>(job, tokenizer);
}

}  // namespace stereosweep::probes::coreference
