#include "engine/causal/NewText.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace stereosweep::engine {

NewText::NewText(const query::Generate& asked, const tokenizer::Tokenizer& tokenizer,
                 std::span<const query::TokenId> end_tokens)
    : asked_(&asked), tokenizer_(&tokenizer), end_tokens_(end_tokens), is_finished_(asked.max_new_tokens == 0) {}

void NewText::add(query::TokenId id, double logprob) {
  logprobs_ += logprob;
  ++drawn_;
  if (std::find(end_tokens_.begin(), end_tokens_.end(), id) != end_tokens_.end()) {
    is_finished_ = true;
    answer_.ended = query::Ending::end_token;
    return;
  }
  answer_.ids.push_back(id);
  is_finished_ = std::ssize(answer_.ids) >= asked_->max_new_tokens;
  if (asked_->stop.empty()) {
    return;
  }
  auto text = tokenizer_->decode(answer_.ids, tokenizer::Tokenizer::Special::skip);
  auto first = std::string::npos;
  for (const auto& stop : asked_->stop) {
    first = std::min(first, text.find(stop));
  }
  if (first != std::string::npos) {
    text.resize(first);
    answer_.text = std::move(text);
    answer_.ended = query::Ending::stop;
    has_text_ = true;
    is_finished_ = true;
  }
}

query::GenerateAnswer NewText::take() {
  if (!has_text_) {
    answer_.text = tokenizer_->decode(answer_.ids, tokenizer::Tokenizer::Special::skip);
  }
  if (drawn_ > 0) {
    answer_.mean_logprob = logprobs_ / static_cast<double>(drawn_);
  }
  return std::move(answer_);
}

}  // namespace stereosweep::engine
