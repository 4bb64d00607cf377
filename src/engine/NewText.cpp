#include "engine/NewText.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/Error.hpp"
#include "base/Json.hpp"

namespace stereosweep::engine {
namespace {

query::TokenId end_token(const base::Json& value, const std::string& file) {
  constexpr auto largest = std::numeric_limits<query::TokenId>::max();
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() > largest) {
    throw base::InputError(
        base::describe(file + ": \"eos_token_id\" holds " + value.dump(), "it is a token id or a list of them"));
  }
  return value.get<query::TokenId>();
}

}  // namespace

std::vector<query::TokenId> read_end_tokens(const base::FileSet& files) {
  for (const std::string name : {"generation_config.json", "config.json"}) {
    const auto* content = files.find(name);
    if (content == nullptr) {
      continue;
    }
    const auto file = files.directory() + "/" + name;
    const auto document = base::parse_json(content->text(), file);
    const auto found = document.is_object() ? document.find("eos_token_id") : document.end();
    if (found == document.end() || found->is_null()) {
      continue;
    }
    std::vector<query::TokenId> ids;
    if (!found->is_array()) {
      return {end_token(*found, file)};
    }
    for (const auto& value : *found) {
      ids.push_back(end_token(value, file));
    }
    return ids;
  }
  return {};
}

NewText::NewText(const query::Generate& asked, const tokenizer::Tokenizer& tokenizer,
                 std::span<const query::TokenId> end_tokens)
    : asked_(&asked), tokenizer_(&tokenizer), end_tokens_(end_tokens), is_finished_(asked.max_new_tokens == 0) {}

void NewText::add(query::TokenId id) {
  if (std::find(end_tokens_.begin(), end_tokens_.end(), id) != end_tokens_.end()) {
    is_finished_ = true;
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
    has_text_ = true;
    is_finished_ = true;
  }
}

query::GenerateAnswer NewText::take() {
  if (!has_text_) {
    answer_.text = tokenizer_->decode(answer_.ids, tokenizer::Tokenizer::Special::skip);
  }
  return std::move(answer_);
}

}  // namespace stereosweep::engine
