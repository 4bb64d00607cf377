#include "probes/SampledText.hpp"

#include <algorithm>
#include <cstddef>

#include "base/Random.hpp"
#include "base/files/Sha256.hpp"

namespace stereosweep::probes {

void check_stops(const config::Fields& job, const std::vector<std::string>& stops) {
  if (std::ranges::find(stops, "") != stops.end()) {
    job.problems().add(job.place("sampling"), "an empty stop text", "it would end every answer at once");
  }
}

query::Framing framing_of(const sweep::Job& job) {
  return job.model.chat ? query::Framing::written : query::Framing::tokenizer;
}

query::Generate sampled_text(const sweep::Job& job, const TextSampling& sampling, const std::string& prompt,
                             std::uint64_t draw) {
  const auto digest = base::sha256(prompt);
  std::uint64_t stream = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    stream = stream << 8U | digest[i];
  }
  query::Generate generate;
  generate.prompt = prompt;
  generate.max_new_tokens = static_cast<std::int32_t>(sampling.max_new_tokens);
  generate.temperature = sampling.temperature;
  generate.top_k = static_cast<std::int32_t>(sampling.top_k);
  generate.top_p = sampling.top_p;
  generate.repetition_penalty = sampling.repetition_penalty;
  generate.seed = base::random_bits(job.seed, stream, draw);
  generate.stop = sampling.stop;
  generate.framing = framing_of(job);
  return generate;
}

}  // namespace stereosweep::probes
