// Whether an interview's ratings stay what they are in another round or another form of the prompt, and how many
// answers refuse (stereomap, appendix L, Table 14).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "findings/Scores.hpp"
#include "results/RawBlock.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::probes::interview {

/// Of the subjects' coefficients of variation (standard deviation, n - 1, over mean) of their mean rating on a
/// dimension, as absolute values; of the subjects that have one.
struct SubjectVariation {
  double mean = stats::nan;
  double largest = stats::nan;
  std::int32_t n = 0;  ///< subjects
};

/// Texts that were asked for ratings. One that rates several items counts once.
struct RefusalCounts {
  std::uint64_t texts = 0;
  std::uint64_t refused = 0;  ///< declines some item and rates none
  std::uint64_t unrated = 0;  ///< rates none, for whatever reason
};

struct Consistency {
  std::vector<std::string> dimensions;
  std::vector<SubjectVariation> over_rounds;    ///< [template, dimension]; a subject's values: the means of its rounds
  std::vector<SubjectVariation> to_first_form;  ///< [template, dimension]; two values: the means of both forms
  std::vector<RefusalCounts> of_subjects;
  std::vector<RefusalCounts> of_forms;
};

/// By item of a result's axis: the turn of the conversation that rates it; nothing where none is rated. Throws
/// InputError where the file is no interview.
std::vector<std::string> rating_turns(const results::RawSchema& schema);

/// `turns`: by item of the table, as `rating_turns`. Of the measures `rating`, `usable` and `refused`.
Consistency consistency_of(const findings::Scores& scores, const std::vector<std::string>& turns);

/// A share of texts and, where they were drawn, its interval of this level: Clopper and Pearson. The prompts are fixed
/// and their shares may differ, which makes the interval too wide, if anything (Hoeffding 1956). NaN without texts.
struct TextShare {
  double share = stats::nan;
  double low = stats::nan;
  double high = stats::nan;
};
TextShare text_share(std::uint64_t count, std::uint64_t texts, std::optional<double> confidence);

}  // namespace stereosweep::probes::interview
