#include "query/Sampling.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "base/Error.hpp"

namespace stereosweep::query {

void limit_thought(Generate& asked, ThoughtLimit limit) {
  limit.answer_tokens = asked.max_new_tokens;
  const auto all = std::int64_t{asked.max_new_tokens} + limit.tokens + std::ssize(limit.closing_text) + 1;
  base::refuse_if(limit.answer_tokens < 0 || all > INT32_MAX, "max_new_tokens is out of range",
                  "it is at least 0, and with the thought and its closing text at most " + std::to_string(INT32_MAX));
  asked.max_new_tokens = static_cast<std::int32_t>(all);
  asked.thought = std::move(limit);
}

void check_sampling(const Generate& asked) {
  const bool is_penalty =
      asked.repetition_penalty >= least_repetition_penalty && asked.repetition_penalty <= largest_repetition_penalty;
  base::refuse_if(!is_penalty, "repetition_penalty is out of range", "it is from 0.01 to 100, and 1 does nothing");
  base::refuse_if(asked.max_new_tokens < 0 || !(asked.temperature >= 0) || std::isinf(asked.temperature) ||
                      asked.top_k < 0 || !(asked.top_p > 0 && asked.top_p <= 1),
                  "a sampling field is out of range",
                  "max_new_tokens, temperature and top_k are at least 0, top_p is above 0 and at most 1");
  if (asked.thought) {
    const auto& limit = *asked.thought;
    base::refuse_if(
        limit.tokens < 1 || limit.closing.empty() || limit.closing_text.find(limit.closing) == std::string::npos,
        "the limit of a thought is none",
        "it has at least one token, a mark that closes it, and a closing text with that mark");
  }
}

}  // namespace stereosweep::query
