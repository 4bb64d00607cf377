#include "base/Error.hpp"
#include "probes/rating/Rating.hpp"
#include "probes/rating/RatingProbe.hpp"

namespace stereosweep::probes::rating {

std::unique_ptr<Probe> make_rating(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) {
  base::Problems problems;
  const auto check = [&](bool is_empty, const char* key, const char* what) {
    if (is_empty) {
      problems.add({.file = "", .line = 0, .key = key}, std::string("no ") + what, "the product would be empty");
    }
  };
  check(job.settings<Rating>().identities.empty(), "axes.identities", "identity");
  check(job.settings<Rating>().traits.empty(), "axes.rated_traits", "trait");
  check(job.settings<Rating>().questions.empty(), "axes.rating_questions", "question");
  if (job.model.chat) {
    for (const auto& token : job.model.chat->control_tokens) {
      if (!tokenizer.id_of(token)) {
        problems.add({.file = "", .line = 0, .key = "model.chat"},
                     "'" + token + "' of the chat template '" + job.model.chat->label + "' is no token of this model",
                     "it would be read as letters", "Name the model's own template, or none.");
      }
    }
  }
  problems.raise_if_any("the job cannot be probed");
  return std::make_unique<RatingProbe>(job, tokenizer);
}

}  // namespace stereosweep::probes::rating
