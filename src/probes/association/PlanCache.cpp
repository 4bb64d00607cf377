#include "probes/association/PlanCache.hpp"

#include <utility>

#include "base/Check.hpp"
#include "sweep/Wording.hpp"

namespace stereosweep::probes::association {

namespace {

/// Beyond this many the cache starts anew: a word glued to a group's name has a neighbourhood per group.
constexpr std::size_t max_cached_plans = 2048;

}  // namespace

PlanCache::PlanCache(const tokenizer::Tokenizer& tokenizer, std::vector<std::string> words, const Measures& measures,
                     std::uint32_t max_subwords)
    : tokenizer_(tokenizer),
      mask_token_(tokenizer.mask_token().value_or("")),
      words_(std::move(words)),
      measures_(measures),
      max_subwords_(max_subwords) {
  STEREOSWEEP_ASSERT(!mask_token_.empty(), "a masked model's tokenizer");
  for (const auto& word : words_) {
    capitalised_.push_back(sweep::capitalise(word));
  }
}

const std::vector<std::string>& PlanCache::words(WordCase word_case) const {
  return word_case == WordCase::capitalised ? capitalised_ : words_;
}

std::vector<WordPieces> PlanCache::pieces(const Surroundings& surroundings, WordCase word_case) const {
  const WordLocator locator(tokenizer_, surroundings);
  std::vector<WordPieces> result;
  result.reserve(words_.size());
  for (const auto& word : words(word_case)) {
    result.push_back(locator.locate(word));
  }
  return result;
}

std::shared_ptr<const TargetPlan> PlanCache::find(const Surroundings& surroundings, WordCase word_case) const {
  const Surroundings near = neighbourhood(surroundings, mask_token_);
  std::string key = word_case == WordCase::capitalised ? "C" : "l";
  key.append(near.before).push_back('\0');
  key.append(near.after);
  {
    const std::lock_guard lock(mutex_);
    const auto found = plans_.find(key);
    if (found != plans_.end() && found->second != nullptr) {
      return found->second;
    }
  }
  return make(surroundings, word_case, key);
}

std::shared_ptr<const TargetPlan> PlanCache::make(const Surroundings& surroundings, WordCase word_case,
                                                  const std::string& key) const {
  const auto whole = pieces(surroundings, word_case);
  auto plan = std::make_shared<const TargetPlan>(plan_targets(whole, measures_, max_subwords_));
  // The neighbourhood is believed only where it alone gives the same pieces as the whole text.
  const bool is_local = whole == pieces(neighbourhood(surroundings, mask_token_), word_case);
  const std::lock_guard lock(mutex_);
  if (plans_.size() >= max_cached_plans) {
    plans_.clear();
  }
  plans_[key] = is_local ? plan : nullptr;
  return plan;
}

}  // namespace stereosweep::probes::association
