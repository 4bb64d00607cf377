#include "engine/causal/NewText.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/Text.hpp"

namespace stereosweep::engine {

NewText::NewText(const query::Generate& asked, const tokenizer::Tokenizer& tokenizer,
                 std::span<const query::TokenId> end_tokens)
    : asked_(&asked), tokenizer_(&tokenizer), end_tokens_(end_tokens), is_finished_(asked.max_new_tokens == 0) {
  if (asked.thought) {
    part_ = asked.thought->opening.empty() ? Part::thought : Part::not_known;
  }
}

std::optional<query::TokenId> NewText::given() const {
  return part_ == Part::closing ? std::optional(closing_ids_[closed_]) : std::nullopt;
}

void NewText::add(query::TokenId id, double logprob) {
  if (part_ == Part::closing) {
    ++closed_;
  } else {
    logprobs_ += logprob;
    ++drawn_;
    if (std::find(end_tokens_.begin(), end_tokens_.end(), id) != end_tokens_.end()) {
      is_finished_ = true;
      answer_.ended = query::Ending::end_token;
      return;
    }
  }
  answer_.ids.push_back(id);
  follow_thought();
  const auto most = asked_->thought && part_ == Part::answer
                        ? static_cast<std::ptrdiff_t>(answer_begin_) + asked_->thought->answer_tokens
                        : asked_->max_new_tokens;
  is_finished_ = std::ssize(answer_.ids) >= most;
  if (!asked_->stop.empty() && part_ == Part::answer) {
    look_for_stop();
  }
}

// Where it is once the last token has come. A mark of n bytes lies in the last n tokens that have a text.
void NewText::follow_thought() {
  const auto& ids = answer_.ids;
  const auto decoded = [&](std::size_t from) {
    return tokenizer_->decode({ids.begin() + static_cast<std::ptrdiff_t>(from), ids.end()},
                              tokenizer::Tokenizer::Special::skip);
  };
  if (part_ == Part::not_known) {
    const auto opening = base::trim(asked_->thought->opening);
    const auto text = decoded(0);
    const auto begin = std::string_view(text).substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (begin.starts_with(opening)) {
      part_ = Part::thought;
    } else if (!opening.starts_with(begin)) {
      part_ = Part::answer;
    }
  }
  if (part_ == Part::thought) {
    const auto& limit = *asked_->thought;
    const auto tail = limit.closing.size() + 8;  // tokens without a text, and the beginning of the first one
    if (decoded(ids.size() - std::min(ids.size(), tail)).find(limit.closing) != std::string::npos) {
      part_ = Part::answer;
    } else if (std::ssize(ids) >= limit.tokens) {
      closing_ids_ = tokenizer_->encode(limit.closing_text, tokenizer::SpecialTokens::leave_out).ids;
      answer_.closed_thought = true;
      part_ = Part::closing;
    }
    answer_begin_ = ids.size();
  } else if (part_ == Part::closing && closed_ == closing_ids_.size()) {
    part_ = Part::answer;
    answer_begin_ = ids.size();
  }
}

void NewText::look_for_stop() {
  auto text = tokenizer_->decode(answer_.ids, tokenizer::Tokenizer::Special::skip);
  std::size_t begin = 0;
  if (answer_begin_ > 0) {  // behind the mark and the newlines that follow it
    const auto mark = text.find(asked_->thought->closing);
    begin = mark == std::string::npos ? 0 : mark + asked_->thought->closing.size();
    begin = std::min(text.find_first_not_of('\n', begin), text.size());
  }
  auto first = std::string::npos;
  for (const auto& stop : asked_->stop) {
    first = std::min(first, text.find(stop, begin));
  }
  if (first != std::string::npos) {
    text.resize(first);
    answer_.text = std::move(text);
    answer_.ended = query::Ending::stop;
    is_finished_ = true;
  }
}

query::GenerateAnswer NewText::take() {
  if (answer_.ended != query::Ending::stop) {
    answer_.text = tokenizer_->decode(answer_.ids, tokenizer::Tokenizer::Special::skip);
  }
  if (drawn_ > 0) {
    answer_.mean_logprob = logprobs_ / static_cast<double>(drawn_);
  }
  return std::move(answer_);
}

}  // namespace stereosweep::engine
