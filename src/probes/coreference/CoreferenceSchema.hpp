// The raw cubes of the coreference probe (definitions: README.md of this room).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "probes/coreference/Coreference.hpp"
#include "probes/coreference/CoreferencePrompts.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::probes::coreference {

/// Why an occupation has no numbers.
enum class CoreferenceStatus : std::uint8_t { ok, excluded, too_many_subwords, too_long, not_finite, engine_error };
const std::vector<std::string>& coreference_status_names();

/// Columns of RawBlock, in the order of the schema's cubes.
enum class CoreferenceColumn : std::size_t { logprob, num_subwords, status, prompt, problem };

/// A sentence with its roles: mentions[referent] is called the referent.
struct RoledSentence {
  CoreferenceSentence sentence;
  std::size_t referent = 0;
  bool is_excluded = false;
  const Mention& mention(std::size_t role) const { return sentence.mentions[role == 0 ? referent : 1 - referent]; }
  /// Of role 0, the referent, or 1, the other.
  std::string occupation(std::size_t role) const { return std::string(sentence.part(mention(role).noun)); }
};

/// Axes [condition, question, sentence] and [occupation, subword]; no priors.
results::RawSchema coreference_schema(const std::vector<Condition>& conditions, const std::vector<Question>& questions,
                                      const std::vector<RoledSentence>& sentences, std::size_t max_subwords);

}  // namespace stereosweep::probes::coreference
