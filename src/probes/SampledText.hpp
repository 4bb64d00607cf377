// Texts that a probe lets a causal model write: how they are drawn, and the query for each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "config/yaml/Fields.hpp"
#include "query/Query.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes {

/// What the sampling of every such probe has; how many texts is the probe's own.
struct TextSampling {
  std::int64_t max_new_tokens = 0;
  double temperature = 1;  ///< 0: greedy, and then one text
  double top_p = 1;
  std::int64_t top_k = 0;  ///< 0: all
  double repetition_penalty = 1;
  std::vector<std::string> stop;
  bool operator==(const TextSampling&) const = default;
};

/// Reports a text of `sampling.stop` that would end every answer at once.
void check_stops(const config::Fields& job, const std::vector<std::string>& stops);

/// A chat template writes every control token itself.
query::Framing framing_of(const sweep::Job& job);

/// The text number `draw` after a prompt. Its seed follows from the job's and from what is asked, so that neither ranks
/// nor blocks nor other entries of the axes change a text.
query::Generate sampled_text(const sweep::Job& job, const TextSampling& sampling, const std::string& prompt,
                             std::uint64_t draw);

}  // namespace stereosweep::probes
