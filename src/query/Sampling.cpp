#include "query/Sampling.hpp"

#include <cmath>

#include "base/Error.hpp"

namespace stereosweep::query {

void check_sampling(const Generate& asked) {
  const bool is_penalty =
      asked.repetition_penalty >= least_repetition_penalty && asked.repetition_penalty <= largest_repetition_penalty;
  base::refuse_if(!is_penalty, "repetition_penalty is out of range", "it is from 0.01 to 100, and 1 does nothing");
  base::refuse_if(asked.max_new_tokens < 0 || !(asked.temperature >= 0) || std::isinf(asked.temperature) ||
                      asked.top_k < 0 || !(asked.top_p > 0 && asked.top_p <= 1),
                  "a sampling field is out of range",
                  "max_new_tokens, temperature and top_k are at least 0, top_p is above 0 and at most 1");
}

}  // namespace stereosweep::query
